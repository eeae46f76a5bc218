import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deviation, deviations } from '../replay/upstream/policy.ts';

/** Scenarios that differ as shipped, each with the deviations that explain it. */
export type AsShipped = Readonly<Record<string, readonly Deviation[]>>;

export const asShippedFile = join(import.meta.dirname, 'as-shipped.json');

export function readAsShipped(): AsShipped {
  const entries = Object.entries(JSON.parse(readFileSync(asShippedFile, 'utf8')) as Record<string, string>);
  return Object.fromEntries(entries.map(([name, keys]) => [name, keys.split(' ').map(deviationOf)]));
}

/** One line per scenario, those with the same deviations together. */
export function writeAsShipped(list: AsShipped): void {
  const lines = Object.entries(list)
    .map(([name, keys]) => ({ name, keys: keys.join(' ') }))
    .sort((a, b) => a.keys.localeCompare(b.keys) || a.name.localeCompare(b.name, 'en', { numeric: true }))
    .map(({ name, keys }) => [name, keys]);
  writeFileSync(asShippedFile, `${JSON.stringify(Object.fromEntries(lines), undefined, 2)}\n`);
}

function deviationOf(key: string): Deviation {
  const found = deviations.find((known) => known === key);
  if (found === undefined) throw new Error(`${asShippedFile}: ${key} is no deviation that can be reproduced`);
  return found;
}

const most = 4;

/**
 * The smallest set of deviations with which a scenario `passes`; of those, the first in the order of `deviations`. Undefined if
 * there is none.
 */
export async function smallestSet(
  passes: (reproduced: readonly Deviation[]) => Promise<boolean>,
): Promise<readonly Deviation[] | undefined> {
  if (!(await passes(deviations))) return undefined;
  for (let size = 1; size <= most; size++) {
    for (const set of subsets(deviations, size)) if (await passes(set)) return set;
  }
  return undefined;
}

function* subsets<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  if (size === 0) return yield [];
  for (const [i, first] of all.entries()) {
    for (const rest of subsets(all.slice(i + 1), size - 1)) yield [first, ...rest];
  }
}
