import { reachedProperty } from './reachable.ts';

const reached = new Set<string>();

/** Has instrumented branches report to this process. */
export function recordReached(): void {
  Object.assign(globalThis, { [reachedProperty]: (name: string) => reached.add(name) });
}

/** Returns and clears the branches that were reached. Empty in a process without the hook. */
export function takeReached(): readonly string[] {
  const names = [...reached];
  reached.clear();
  return names;
}
