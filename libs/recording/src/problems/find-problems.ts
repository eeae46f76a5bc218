import type { Propagation } from '../propagations.ts';
import { matchesKeys, type ServiceQuery } from '../queries.ts';
import type { Recording } from '../recording-reader.ts';
import type { ServiceProblem } from './joined-problems.ts';
import { type ProblemSeverity, problemSeverities } from './problem-reasons.ts';
import { describeProblem, leastAfterMs, type ProblemRule } from './problem-rules.ts';

export interface FoundProblem extends ServiceProblem {
  readonly severity: ProblemSeverity;
}

export interface ProblemQuery extends ServiceQuery {
  /** Only those that continue at `to`, which is now or the end of the recording. */
  readonly isOpen: boolean;
  /** `to` is now or the end of the recording: those of `repeatedReasons` and those over all clusters are known. Default: as `isOpen`. */
  readonly isAtEnd?: boolean;
  /** Also those that have lasted shorter than usual changes. */
  readonly all: boolean;
}

export interface ProblemOptions {
  /** How problems count. Default: by their reasons. */
  readonly rules?: readonly ProblemRule[] | undefined;
  /** Finds what is wrong at present over all clusters, given what continues in each. Default: only single clusters are known. */
  readonly overClusters?: ((open: readonly ServiceProblem[]) => Promise<readonly ServiceProblem[]>) | undefined;
}

export type ProblemSource = Pick<Recording, 'managerChanges' | 'problems' | 'propagations' | 'readinessChanges'>;

/** Problems of Services in a period, the most severe first, then those that began last. */
export async function findProblems(
  recording: ProblemSource,
  query: ProblemQuery,
  { rules = [], overClusters }: ProblemOptions = {},
): Promise<readonly FoundProblem[]> {
  const { keys, from, to, all, isOpen, isAtEnd = isOpen } = query;
  const inObjects = await recording.problems({ from, to, isOpen });
  const found = await Promise.all([
    inObjects.problems,
    isAtEnd && overClusters !== undefined ? overClusters(inObjects.problems.filter((one) => one.to === null)) : [],
    lateChanges(recording, query, rules),
    flapping(recording, query),
    competing(recording, query),
  ]);
  const problems = found.flat().flatMap((one) => {
    if (!matchesKeys(keys, one.key)) return [];
    const { severity, afterMs } = describeProblem(rules, one);
    const counts = severity !== 'off' && (all || (one.to ?? to) - one.from >= afterMs);
    return counts ? { ...one, severity } : [];
  });
  const rank = ({ severity }: FoundProblem) => problemSeverities.indexOf(severity);
  return problems.sort((a, b) => rank(a) - rank(b) || b.from - a.from);
}

/** More are not needed to see that there is a problem. */
const limit = 1_000;

async function lateChanges(
  recording: ProblemSource,
  { isOpen, all, ...query }: ProblemQuery,
  rules: readonly ProblemRule[],
): Promise<readonly ServiceProblem[]> {
  const atLeastMs = leastAfterMs(rules, 'LateChange');
  const asked = { ...query, atLeastMs, isOpen, isStartKnown: false, sort: 'longest', limit } as const;
  const { propagations } = await recording.propagations(asked);
  const isLate = ({ key, startedAt, endedAt }: Propagation) =>
    all || (endedAt ?? query.to) - startedAt >= describeProblem(rules, { key, reason: 'LateChange' }).afterMs;
  const byPlace = Map.groupBy(propagations.filter(isLate), ({ key, place }) => `${place} ${key}`);
  return [...byPlace.values()].flatMap(lateTogether);
}

/** Changes of a Service that were late at the same time are one problem. */
function lateTogether(propagations: readonly Propagation[]): readonly ServiceProblem[] {
  const groups: Propagation[][] = [];
  let until = Number.NEGATIVE_INFINITY;
  for (const one of propagations.toSorted((a, b) => a.startedAt - b.startedAt)) {
    if (one.startedAt <= until) groups.at(-1)?.push(one);
    else groups.push([one]);
    until = Math.max(until, one.endedAt ?? Number.POSITIVE_INFINITY);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { key, place, pod, from, to, event, startedAt, isStartKnown } = first;
    const ends = group.map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY);
    const end = Math.max(...ends);
    const others = group.length === 1 ? '' : `, and ${group.length - 1} more`;
    const message = `${place} show Pod ${pod} as ${from} instead of ${to}${others}`;
    const period = { from: startedAt, to: Number.isFinite(end) ? end : null };
    return [{ key, reason: 'LateChange', message, ...period, isStartKnown, event }];
  });
}

/** How far back repeated changes count. */
const recentMs = 600_000;
const minChanges = 6;
const minOverwrites = 3;

/** Pods that have just become ready or not ready again and again. The past has `readinessChanges`. */
async function flapping(
  recording: ProblemSource,
  { to, keys, isOpen, isAtEnd = isOpen }: ProblemQuery,
): Promise<readonly ServiceProblem[]> {
  if (!isAtEnd) return [];
  const from = to - recentMs;
  const { pods } = await recording.readinessChanges({ from, to, keys, limit });
  const often = pods.filter(({ changes }) => changes >= minChanges);
  return [...Map.groupBy(often, ({ key }) => key)].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    const message = `Pod ${first.pod} became ready or not ready ${first.changes} times in 10 minutes${more}`;
    return [{ key, reason: 'Flapping', message, from: first.firstAt, to: null, isStartKnown: true, event: null }];
  });
}

/** Services whose objects two clients have just overwritten in turn. */
async function competing(
  recording: ProblemSource,
  { to, keys, isOpen, isAtEnd = isOpen }: ProblemQuery,
): Promise<readonly ServiceProblem[]> {
  if (!isAtEnd) return [];
  const { services } = await recording.managerChanges({ from: to - recentMs, to, keys });
  return services
    .filter(({ changes }) => changes >= minOverwrites)
    .map(({ key, changes, firstAt, before, after }) => {
      const message = `${before} and ${after} overwrote each other ${changes} times in 10 minutes`;
      return { key, reason: 'CompetingManagers', message, from: firstAt, to: null, isStartKnown: true, event: null };
    });
}
