import type { Entry } from '../../src/view/entry-schemas.ts';

/** Entries that are shown as one: that of slices first. */
export type EntryGroup = readonly [Entry, ...Entry[]];

/**
 * Groups the write of slices with that of Endpoints if the same change caused both. `entries` are in the order of time. A
 * group is in the place of its last entry.
 */
export function groupEntries(entries: readonly Entry[]): readonly EntryGroup[] {
  const groups = new Set<EntryGroup>();
  /** Writes that may get a second one, by what was written and why. */
  const single = new Map<string, EntryGroup>();
  for (const entry of entries) {
    const write = writeOf(entry);
    const wanted = write && `${write.of === 'slices' ? 'endpoints' : 'slices'} ${write.cause}`;
    const other = wanted === undefined ? undefined : single.get(wanted);
    if (write === undefined || wanted === undefined || other === undefined) {
      const group: EntryGroup = [entry];
      groups.add(group);
      if (write) single.set(`${write.of} ${write.cause}`, group);
    } else {
      single.delete(wanted);
      groups.delete(other);
      groups.add(write.of === 'slices' ? [entry, ...other] : [...other, entry]);
    }
  }
  return [...groups];
}

export const firstAt = (group: EntryGroup): number => Math.min(...group.map(({ at }) => at));
export const lastAt = (group: EntryGroup): number => Math.max(...group.map(({ at }) => at));

/** What an entry wrote, and its first cause; undefined: nothing, or the cause is unknown. */
function writeOf(entry: Entry): { readonly of: 'slices' | 'endpoints'; readonly cause: string } | undefined {
  if (entry.kind === 'decided') return undefined;
  const [observation, ...others] = entry.kind === 'observed' ? entry.observations : [];
  // Another controller wrote it.
  const observed = others.length === 0 ? observation : undefined;
  const causes = entry.kind === 'completed' ? entry.causes : observed?.write?.causes;
  const [cause] = causes?.first ?? [];
  if (cause === undefined) return undefined;
  const isOfEndpoints = entry.kind === 'completed' ? entry.controller === 'endpoints' : observed?.of === 'endpoints';
  return { of: isOfEndpoints ? 'endpoints' : 'slices', cause: `${cause.observedAt} ${cause.description}` };
}
