import type { RecordedHistory, RecordedNodeDisruption, RecordedProblems } from './answers.ts';
import { disruptionsOf, type NodeChange, type NodeDisruption } from './node-changes.ts';
import { earlyMs, nodeImpact } from './node-impact.ts';
import type { ServiceProblem } from './problems/joined-problems.ts';
import { outagesOf } from './problems/outages-of.ts';
import { matchesKeys, type NodeQuery, type RecordedPeriod, type RecordedRange } from './queries.ts';

/** Reading more would take seconds. */
const maxRecords = 20_000;
const minRecordsPerService = 100;
/** How much later than the last event of a Node evictions and new Pods may follow, in milliseconds. */
const settleMs = 3_600_000;

interface Source {
  problems(query: RecordedPeriod & { readonly isOpen: boolean }): RecordedProblems;
  records(key: string, range: RecordedRange): RecordedHistory;
}

/** The last disruptions that overlap with a period, with what they did to Services. */
export function withImpacts(
  recording: Source,
  changes: readonly NodeChange[],
  { from, to, keys, limit }: NodeQuery,
): readonly RecordedNodeDisruption[] {
  const last = disruptionsOf(changes)
    .filter((one) => one.to === null || one.to >= from)
    .map((one) => ({ ...one, services: new Map([...one.services].filter(([key]) => matchesKeys(keys, key))) }))
    .filter(({ services }) => services.size > 0)
    .slice(-limit);
  if (last.length === 0) return [];
  const services = last.reduce((sum, one) => sum + one.services.size, 0);
  const records = Math.max(minRecordsPerService, Math.floor(maxRecords / services));
  const { problems } = recording.problems({ from: 0, to, isOpen: false });
  const outages = Map.groupBy(outagesOf(problems, { from: last[0]?.from ?? from, to }), ({ key }) => key);
  return last.map((one) => withImpact(recording, one, { outages, records, to }));
}

interface Given {
  readonly outages: ReadonlyMap<string, readonly ServiceProblem[]>;
  /** How many are read of each Service. */
  readonly records: number;
  readonly to: number;
}

function withImpact(
  recording: Source,
  { services, ...disruption }: NodeDisruption,
  { outages, records, to }: Given,
): RecordedNodeDisruption {
  const { node, isDeleted, events } = disruption;
  const last = events.at(-1)?.at ?? disruption.from;
  const end = disruption.to === null || isDeleted ? last + settleMs : disruption.to;
  const until = Math.min(to, end);
  const impacts = [...services].map(([key, at]) => {
    const from = at - earlyMs;
    const read = recording.records(key, { since: from, until, records });
    const lost = (outages.get(key) ?? []).filter((one) => one.from >= from && one.from <= until);
    return {
      ...{ key, ...nodeImpact({ key, node, at, until }, read.records) },
      outages: lost.map((one) => ({ from: one.from, to: one.to })),
    };
  });
  return { ...disruption, services: impacts };
}
