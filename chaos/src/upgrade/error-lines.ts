/** A Pod that is deleted before its address is written has this effect in any version. */
const expected = /^(additions|removals) held back; the cluster does not confirm them$/;

/** The messages of unexpected errors in a log of JSON lines, with their numbers. Lines that are not JSON count as errors. */
export function errorLines(log: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of log.split('\n')) {
    const message = line === '' ? undefined : errorIn(line);
    if (message !== undefined) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return counts;
}

function errorIn(line: string): string | undefined {
  try {
    const { level, msg } = JSON.parse(line) as { readonly level?: unknown; readonly msg?: unknown };
    return level === 'error' && !expected.test(String(msg)) ? String(msg) : undefined;
  } catch {
    return line;
  }
}
