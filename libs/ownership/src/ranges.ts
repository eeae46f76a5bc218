/** Scopes as short text: `0-3,7`. Scopes that are no numbers are listed. */
export function ranges(scopes: readonly string[]): string {
  const numbers = scopes.map(Number);
  if (numbers.some((number) => !Number.isInteger(number))) return scopes.join(',');
  const parts: { from: number; to: number }[] = [];
  for (const number of numbers.sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else parts.push({ from: number, to: number });
  }
  return parts.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}
