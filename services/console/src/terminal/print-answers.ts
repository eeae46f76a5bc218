import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import type {
  DrainView,
  PropagationView,
  ReadinessChangesView,
  ServiceOutage,
  ServiceProblem,
} from '../view/schemas.ts';
import type { TextFormat } from './text.ts';

type Format = Pick<TextFormat, 'width' | 'now'>;
/** `until`: what continues has lasted until then. */
type EndedFormat = Format & { readonly until: number };

const service = ['CLUSTER', 'NAMESPACE', 'SERVICE'] as const;

/** What is wrong with Services, one line per problem. `none`: what to say without any. */
export function listProblems(
  problems: readonly ServiceProblem[],
  { width, now, until }: EndedFormat,
  none: string,
): string {
  if (problems.length === 0) return none;
  return formatTable(
    ['SEVERITY', ...service, 'REASON', 'SINCE', 'DURATION', 'MESSAGE'],
    problems.map(({ severity, clusterName, namespace, name, reason, message, from, to, isStartKnown }) => [
      ...[severity, clusterName, namespace, name, reason, `${isStartKnown ? '' : 'before '}${localTime(from, now)}`],
      ...[to === null ? `${formatDuration(until - from)}, continues` : formatDuration(to - from), message],
    ]),
    width,
  );
}

/** Services without a ready endpoint, one line per outage. */
export function listOutages(outages: readonly ServiceOutage[], { width, now }: Format): string {
  if (outages.length === 0) return 'No Service was without a ready endpoint in this period.\n';
  return formatTable(
    [...service, 'SINCE', 'DURATION', 'LAST EVENT BEFORE'],
    outages.map(({ clusterName, namespace, name, from, to, isStartKnown, event }) => [
      ...[clusterName, namespace, name, `${isStartKnown ? '' : 'before '}${localTime(from, now)}`],
      ...[to === null ? 'continues' : formatDuration(to - from), event ?? ''],
    ]),
    width,
  );
}

/** Changes of Pods and how long slices or Endpoints took to show them, one line each. `none`: what to say without any. */
export function listPropagations(
  propagations: readonly PropagationView[],
  { width, now, until }: EndedFormat,
  none: string,
): string {
  if (propagations.length === 0) return none;
  return formatTable(
    [...service, 'POD', 'CHANGE', 'IN', 'SINCE', 'TOOK', 'EVENT'],
    propagations.map(({ clusterName, namespace, name, pod, place, from, to, event, ...times }) => [
      ...[clusterName, namespace, name, pod, `${from} → ${to}`, place],
      ...[`${times.isStartKnown ? '' : 'before '}${localTime(times.startedAt, now)}`, tookText(times, until), event],
    ]),
    width,
  );
}

function tookText({ startedAt, endedAt, end }: Pick<PropagationView, 'startedAt' | 'endedAt' | 'end'>, until: number) {
  const took = formatDuration((endedAt ?? until) - startedAt);
  if (end === null) return `${took}, continues`;
  return end === 'written' ? took : `${took}, ${end}`;
}

/** Pods by how often their readiness changed. */
export function listReadinessChanges(pods: readonly ReadinessChangesView[], { width, now }: Format): string {
  if (pods.length === 0) return 'No Pod became ready or not ready in this period.\n';
  return formatTable(
    [...service, 'POD', 'CHANGES', 'LAST'],
    pods.map(({ clusterName, namespace, name, pod, changes, lastAt }) => [
      ...[clusterName, namespace, name, pod, String(changes), localTime(lastAt, now)],
    ]),
    width,
  );
}

/** How long each Service took to stop sending traffic to a Pod, and whether its preStop hooks are long enough. */
export function listDrains(drains: readonly DrainView[], { width }: Pick<Format, 'width'>): string {
  const [first] = drains;
  if (first === undefined) return 'No ready Pod was deleted in this period.\n';
  const table = formatTable(
    [...service, 'REMOVALS', 'P50', 'P99', 'LONGEST', 'NEEDED', 'PRESTOP', 'ENOUGH', 'GRACE'],
    drains.map(({ clusterName, namespace, name, removals, p50Ms, p99Ms, maxMs, ...drain }) => [
      ...[clusterName, namespace, name, String(removals)],
      ...[formatDuration(p50Ms), formatDuration(p99Ms), formatDuration(maxMs), `${drain.neededSeconds} s`],
      drain.preStop.join(', '),
      drain.isLongEnough === null ? 'unknown' : drain.isLongEnough ? 'yes' : 'no',
      drain.gracePeriodSeconds === null ? '' : `${drain.gracePeriodSeconds} s`,
    ]),
    width,
  );
  return `${table}${assumptions(formatDuration(first.proxyDelayMs))}`;
}

const assumptions = (proxyDelay: string) => `
Measured: from the watch event of the Pod to that of the slices that no longer show it as ready.
Assumed: the last kube-proxy has its rules ${proxyDelay} later (--proxy-delay); the application serves until SIGTERM.
Not included: open connections, and the delays of DNS, ingresses, meshes and cloud load balancers.
preStop and the application's own shutdown must fit into terminationGracePeriodSeconds.
`;
