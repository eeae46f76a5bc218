/** Most scopes without a number that are listed by name. */
const maxNames = 10;

/** Scopes as short text: `0-3,7`. Of scopes that are no numbers, the first ones are listed. */
export function ranges(scopes: readonly string[]): string {
  const numbers = scopes.map(Number);
  if (numbers.some((number) => !Number.isInteger(number))) {
    const names = scopes.slice(0, maxNames).join(',');
    return scopes.length > maxNames ? `${names} and ${scopes.length - maxNames} more` : names;
  }
  const parts: { from: number; to: number }[] = [];
  for (const number of numbers.sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else parts.push({ from: number, to: number });
  }
  return parts.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}
