import type { HistoryView, Overview } from '../../src/view/schemas.ts';
import { dateAndTime, outageText } from '../format.ts';

/** A period that explains what a history shows, or does not. */
export interface Band {
  readonly kind: keyof typeof bandNames;
  readonly from: number;
  readonly to: number;
  /** For people. */
  readonly text: string;
}

export const bandNames = { outage: 'does not answer', unrecorded: 'not recorded', 'take-over': 'take-over' } as const;

/** Gaps, the outage that continues, and take-overs by another process, which have no length. `cluster`: UID or name. */
export function bandsOf(
  { entries }: Pick<HistoryView, 'entries'>,
  { gaps, clusters, ...overview }: Pick<Overview, 'gaps' | 'outage' | 'clusters'>,
  cluster: string,
  now: number,
): readonly Band[] {
  const own = clusters.find(({ identity, name }) => identity === cluster || name === cluster);
  const outage = overview.outage ?? (own?.outage && { what: own.name, ...own.outage });
  const bands: Band[] = gaps.map(({ from, to }) => {
    return { kind: 'unrecorded', from, to, text: `not recorded from ${dateAndTime(from)} to ${dateAndTime(to)}` };
  });
  if (outage) bands.push({ kind: 'outage', from: outage.since, to: now, text: outageText(outage) });
  const epochs = new Map<string, number>();
  const known = new Set<number>();
  for (const entry of entries) {
    if (entry.kind === 'observed') continue;
    const { at, controller } = entry;
    const { epoch } = entry.plan;
    const before = epochs.get(controller) ?? epoch;
    epochs.set(controller, Math.max(before, epoch));
    // Each controller of the process takes over.
    if (epoch <= before || known.has(epoch)) continue;
    known.add(epoch);
    const text = `another process took over before ${dateAndTime(at)} (fencing token ${epoch})`;
    bands.push({ kind: 'take-over', from: at, to: at, text });
  }
  return bands;
}
