import type { HistoryEntry } from '@sluice/console/client';
import { formatDuration } from '@sluice/process';
import { causesText, hanging, type Paper } from './text.ts';
import { localTime } from './times.ts';

type Change = Extract<HistoryEntry, { kind: 'done' }>['endpoints'][number];

/** One entry: when, what sort, and below it what, why, and how long it took. */
export function printEntry(entry: HistoryEntry, paper: Paper): string {
  const { colors } = paper;
  const [head, ...rest] = linesOf(entry);
  const first = `${localTime(entry.at, paper.now)}  ${wordOf(entry).padEnd(8)} `;
  const paint = entry.kind === 'done' ? (entry.status === 'applied' ? colors.bold : colors.red) : colors.reset;
  const below = rest.map((line) => hanging(' '.repeat(first.length), line, paper, colors.dim));
  return hanging(first, head ?? '', paper, paint) + below.join('');
}

function wordOf(entry: HistoryEntry): string {
  return entry.kind === 'done' ? entry.status : entry.kind;
}

function linesOf(entry: HistoryEntry): readonly string[] {
  switch (entry.kind) {
    case 'seen':
      return entry.news.map(({ of, name, what }) => `${kinds[of] ?? of}${name === '' ? '' : ` ${name}`} ${what}`);
    case 'decided': {
      const writes = entry.mutations.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
      const what = writes.length > 0 ? writes.join(', ') : 'no writes needed';
      return [
        `${entry.controller}: ${what}`,
        ...entry.incomplete.map((reason) => `incomplete: ${reason}`),
        ...entry.events.map(({ reason, message }) => `${reason}: ${message}`),
      ];
    }
    case 'done':
      return doneLines(entry);
  }
}

const kinds: Readonly<Record<string, string>> = {
  service: 'Service',
  pod: 'Pod',
  endpoints: 'Endpoints',
  slice: 'EndpointSlice',
  topology: 'Nodes:',
};

function doneLines(entry: Extract<HistoryEntry, { kind: 'done' }>): readonly string[] {
  const took = entry.latencyMs === null ? '' : `, ${formatDuration(entry.latencyMs)} after the first cause`;
  const retries = entry.retries > 0 ? `, ${entry.retries} retries` : '';
  const writes = entry.writes.map(({ verb, name }) => `${verb} ${name}`).join(', ');
  const causes = causesText(entry.causes);
  return [
    `${entry.controller}: ${writes === '' ? 'no writes' : writes}${took}${retries}`,
    ...(entry.message === '' ? [] : [entry.message]),
    ...entry.endpoints.map(changeText),
    ...(causes === '' ? [] : [`because: ${causes}`]),
  ];
}

/** What a proxy sees of it. */
function changeText({ what, pod, addresses, before, after }: Change): string {
  const name = `${pod === '' ? '' : `${pod} `}${addresses.join(' ')}`;
  if (what === 'removed') return `− ${name}${before ? `, was ${faceText(before)}` : ''}`;
  if (what === 'added') return `+ ${name}${after ? `, ${faceText(after)}` : ''}`;
  return `~ ${name}: ${before ? faceText(before) : '?'} → ${after ? faceText(after) : '?'}`;
}

function faceText({ ready, serving, terminating, zone, hints }: NonNullable<Change['after']>): string {
  return [
    ready ? 'ready' : 'not ready',
    ...(terminating ? ['terminating'] : []),
    ...(terminating && serving ? ['serving'] : []),
    ...(zone === '' ? [] : [`zone ${zone}`]),
    ...(hints.length === 0 ? [] : [`for ${hints.join(', ')}`]),
  ].join(', ');
}
