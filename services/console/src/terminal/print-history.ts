import { formatDuration, localTime, printable } from '@sluice/platform/process';
import { difference, isBad, isReturned, signs, subjects } from '../../page/entry-text.ts';
import { slowWriteText } from '../../page/spent-text.ts';
import type { HistoryEntry } from '../client/console-client.ts';
import type { EndpointChange, ObservedWrite } from '../view/entry-schemas.ts';
import type { HistoryView } from '../view/schemas.ts';
import { causesText, outageLines, type TextFormat, wrapIndented } from './text.ts';

/** Notes above the entries: outdated, incomplete, limited or empty history. */
export function historyPreface(view: HistoryView, since: number | undefined, format: TextFormat): string {
  const { entries, total, outage, since: start, gaps, unreadable } = view;
  const inPeriod = gaps.filter(({ to }) => to > (since ?? entries[0]?.at ?? start));
  const notes = [
    ...(since !== undefined && since < start ? [`The history starts at ${localTime(start, format.now)}.`] : []),
    ...inPeriod.map(
      ({ from, to }) => `Nothing was recorded from ${localTime(from, format.now)} to ${localTime(to, format.now)}.`,
    ),
    ...unreadable,
    ...(total > entries.length ? [`Showing the last ${entries.length} of ${total} entries.`] : []),
    ...(total === 0 ? ['No entries in this period.'] : []),
  ];
  return [
    ...outageLines(outage, 'later changes are unknown', format),
    ...notes.map((note) => wrapIndented('', note, format, format.colors.dim)),
  ].join('');
}

/** One entry: time, cluster if given, kind or status, and what happened, why, and how long it took. */
export function printEntry(entry: HistoryEntry, format: TextFormat, cluster = ''): string {
  const { colors } = format;
  const [head, ...rest] = linesOf(entry);
  const where = cluster === '' ? '' : `${printable(cluster)}  `;
  const first = `${localTime(entry.at, format.now)}  ${where}${labelOf(entry).padEnd(8)} `;
  const paint = isBad(entry)
    ? colors.red
    : entry.kind === 'completed' && !isReturned(entry)
      ? colors.bold
      : colors.reset;
  const below = rest.map((line) => wrapIndented(' '.repeat(first.length), line, format, colors.dim));
  return wrapIndented(first, head ?? '', format, paint) + below.join('');
}

function labelOf(entry: HistoryEntry): string {
  if (entry.kind !== 'completed') return entry.kind;
  return isReturned(entry) ? 'returned' : entry.status;
}

function linesOf(entry: HistoryEntry): readonly string[] {
  switch (entry.kind) {
    case 'observed':
      return entry.observations.flatMap(({ of, name, text, write }) => [
        `${subjects[of]}${name === '' ? '' : ` ${name}`} ${text}`,
        ...(write === undefined ? [] : inferenceLines(write)),
      ]);
    case 'decided': {
      const writes = entry.mutations.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
      const what = writes.length > 0 ? writes.join(', ') : 'no writes needed';
      return [
        `${entry.controller}: ${what}`,
        ...entry.incomplete.map((reason) => `incomplete: ${reason}`),
        ...entry.events.map(({ reason, message }) => `${reason}: ${message}`),
      ];
    }
    case 'completed':
      return completedLines(entry);
  }
}

/** What caused the write of another controller, as far as it can be inferred. */
function inferenceLines({ causes, inferredFrom, latencyMs }: ObservedWrite): readonly string[] {
  if (inferredFrom === null) return [];
  const after = latencyMs === null ? '' : `, ${formatDuration(latencyMs)} before`;
  return [`${inferredFrom === 'content' ? 'because' : 'probably because'}: ${causesText(causes)}${after}`];
}

function completedLines(entry: Extract<HistoryEntry, { kind: 'completed' }>): readonly string[] {
  const took = entry.latencyMs === null ? '' : `, ${formatDuration(entry.latencyMs)} after the first cause`;
  const retries = entry.retries > 0 ? `, ${entry.retries} retries` : '';
  const writes = entry.writes.map(({ verb, name }) => `${verb} ${name}`).join(', ');
  const causes = causesText(entry.causes);
  const slow = slowWriteText(entry, formatDuration);
  return [
    `${entry.controller}: ${writes === '' ? 'no writes' : writes}${took}${retries}`,
    ...(entry.message === '' ? [] : [entry.message]),
    ...(slow === '' ? [] : [slow]),
    ...entry.endpoints.map(changeText),
    ...(causes === '' ? [] : [`because: ${causes}`]),
  ];
}

function changeText(change: EndpointChange): string {
  const { type, pod, addresses } = change;
  const text = difference(change);
  const what = `${signs[type]} ${pod === '' ? '' : `${pod} `}${addresses.join(' ')}`;
  return text === '' ? what : `${what}${type === 'changed' ? ':' : ','} ${text}`;
}
