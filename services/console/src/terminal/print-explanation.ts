import { formatDuration, localTime, timeToSecond, withLocalTimes } from '@sluice/platform/process';
import { flapping, troubledFirst } from '../../page/entry-text.ts';
import { slowWriteText } from '../../page/spent-text.ts';
import type { PodDetail, PodView, ServiceDetail } from '../view/schemas.ts';
import { outageLines, stateIsOld, type TextFormat, wrapIndented } from './text.ts';

/** A Service in a few lines, then each Pod with its endpoints and reasons. */
export function printService(detail: ServiceDetail, format: TextFormat): string {
  const { summary, notes, pods, live, outage } = detail;
  const { namespace, name, clusterName, lastChangeAt, lastLatencyMs } = summary;
  const when = whenText(detail, format);
  // The line shows current counts only; a past time has no summary.
  const counted = live ? `: ${statusText(summary)}` : '';
  const written =
    live && lastChangeAt !== null
      ? `last written ${localTime(lastChangeAt, format.now)}${lastLatencyMs === null ? '' : `, ${formatDuration(lastLatencyMs)} after its cause`}`
      : '';
  return [
    ...outageLines(outage, stateIsOld, format),
    wrapIndented('', `Service ${namespace}/${name} in ${clusterName}, ${when}${counted}`, format, format.colors.bold),
    ...(written === '' ? [] : [wrapIndented('', written, format)]),
    ...notes.map((note) => wrapIndented('', withLocalTimes(note, format.now), format)),
    ...(pods.length === 0 ? ['No Pods.\n'] : troubledFirst(pods).map((pod) => printPod(pod, format))),
  ].join('');
}

function whenText({ at, live, outage }: Pick<ServiceDetail, 'at' | 'live' | 'outage'>, { now }: TextFormat): string {
  if (!live) return `at ${localTime(at, now)}`;
  return outage === null ? 'now' : `as of ${timeToSecond(outage.since, now)}`;
}

interface PodHeading {
  /** `shop/cart` */
  readonly service: string;
  readonly clusterName: string;
  /** The time shown; undefined: now. */
  readonly at: number | undefined;
}

/** A Pod on its own, below its Service and cluster. */
export function printPodDetail(pod: PodDetail, { service, clusterName, at }: PodHeading, format: TextFormat): string {
  const when = whenText({ at: at ?? format.now, live: at === undefined, outage: pod.outage }, format);
  return [
    ...outageLines(pod.outage, stateIsOld, format),
    wrapIndented('', `Service ${service} in ${clusterName}, ${when}`, format, format.colors.bold),
    printPod(pod, format),
  ].join('');
}

export function printPod(pod: PodView, format: TextFormat): string {
  const { colors } = format;
  const { verdict, placements, reasons, deletingSince, lastChange, unready, node, zone, readinessChanges } = pod;
  const colours = { ready: colors.green, pending: colors.yellow, unknown: colors.dim } as const;
  const paint = verdict in colours ? colours[verdict as keyof typeof colours] : colors.red;
  const where = [node && `node ${node}`, zone && `zone ${zone}`].filter(Boolean).join(', ');
  return [
    wrapIndented('', `${pod.pod}: ${verdictText(pod)}${where === '' ? '' : ` (${where})`}`, format, paint),
    ...placements.map(({ slice, addresses, hints }) =>
      wrapIndented(
        '  ',
        `${addresses.join(', ')} in ${slice}${hints.length > 0 ? `, for ${hints.join(', ')}` : ''}`,
        format,
      ),
    ),
    ...reasons.map((reason) => wrapIndented('  ', withLocalTimes(reason, format.now), format)),
    ...(readinessChanges < flapping
      ? []
      : [wrapIndented('  ', `its readiness changed ${readinessChanges} times in the last minute`, format)]),
    ...(deletingSince === null ? [] : [wrapIndented('  ', deletionText(deletingSince, format), format)]),
    ...(unready === null || unready.at === lastChange?.at ? [] : changeLines({ ...unready, type: 'unready' }, format)),
    ...(lastChange === null ? [] : changeLines(lastChange, format)),
  ].join('');
}

/** A problem says more than counts, which may look healthy. */
function statusText({ status, problem, ready, endpoints, terminating, slices }: ServiceDetail['summary']): string {
  if (problem !== '' && status === 'empty') return problem;
  if (problem !== '' && status === 'degraded') return `degraded: ${problem}`;
  const leaving = terminating === 0 ? '' : `, ${terminating} terminating,`;
  const where = `in ${slices} ${slices === 1 ? 'slice' : 'slices'}`;
  return `${status}, ${ready} of ${endpoints - terminating} endpoints ready${leaving} ${where}`;
}

function verdictText({ verdict, lastChange }: PodView): string {
  if (verdict !== 'unknown') return verdict;
  return lastChange?.type === 'removed' ? 'deleted' : 'not a Pod of this Service';
}

const deletionText = (at: number, { now }: TextFormat): string =>
  `deletion started at ${localTime(at, now)} (${formatDuration(Math.max(0, now - at))} ago)`;

const verbs = {
  added: 'was added',
  removed: 'was removed',
  changed: 'changed',
  unready: 'became not ready',
} as const;

type Change = NonNullable<PodView['unready']> & { readonly type: keyof typeof verbs };

/** The last change of the Pod's endpoint, and below it where the time went if its write was slow. */
function changeLines(change: Change, format: TextFormat): readonly string[] {
  const slow = slowWriteText(change, formatDuration);
  return [
    wrapIndented('  ', changeText(change, format), format),
    ...(slow === '' ? [] : [wrapIndented('    ', slow, format)]),
  ];
}

/** When the Pod's endpoint last changed, why, and how long the write took. */
function changeText({ at, type, causes, latencyMs }: Change, { now }: TextFormat): string {
  const took = latencyMs === null ? '' : `, ${formatDuration(latencyMs)} after the first cause`;
  const why = causes.length === 0 ? '' : `: ${causes.join(', ')}`;
  return `endpoint ${verbs[type]} at ${localTime(at, now)} (${formatDuration(Math.max(0, now - at))} ago)${took}${why}`;
}
