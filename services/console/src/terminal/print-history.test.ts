import { describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../client/console-client.ts';
import { markedFormat } from '../testing/marked-format.ts';
import type { HistoryView } from '../view/schemas.ts';
import { historyPreface, printEntry } from './print-history.ts';
import { textFormatFor } from './text.ts';

const noon = new Date(2026, 0, 1, 12, 0, 0).getTime();
const plain = textFormatFor({}, noon + 60_000);
const marked = markedFormat(noon + 60_000);

const none = { first: [], more: 0 };
const causes = { first: [{ description: 'Pod shop/web-1 deleted', observedAt: noon }], more: 0 };
const plan = { controller: 'endpointslice', plan: { epoch: 1, number: 1 } };
type Entry<K extends HistoryEntry['kind']> = Extract<HistoryEntry, { kind: K }>;
type Change = Entry<'completed'>['endpoints'][number];

const completed = (given: Partial<Entry<'completed'>> = {}): Entry<'completed'> => ({
  ...{ kind: 'completed', at: noon, ...plan, status: 'applied', message: '', retries: 0, causes: none },
  ...{ latencyMs: null, applyMs: 3, writes: [], endpoints: [] },
  ...given,
});
const decided = (given: Partial<Entry<'decided'>> = {}): Entry<'decided'> => ({
  ...{ kind: 'decided', at: noon, ...plan, causes: none, mutations: [], incomplete: [], events: [] },
  ...given,
});
/** Lines without time and kind. */
const linesOf = (entry: HistoryEntry) =>
  printEntry(entry, plain)
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(23));

test.each([
  ['Service web was deleted', 'service', 'web', 'was deleted'],
  ['Pod web-1 became ready', 'pod', 'web-1', 'became ready'],
  ['Endpoints web exist', 'endpoints', 'web', 'exist'],
  ['EndpointSlice web-a was deleted', 'slice', 'web-a', 'was deleted'],
  ['Nodes changed the CPU ratio of the zones', 'topology', '', 'changed the CPU ratio of the zones'],
  ['The cluster was removed', 'cluster', '', 'was removed'],
] as const)('observed: %s', (line, of, name, text) => {
  const observations = [{ of, name, text }];
  expect(printEntry({ kind: 'observed', at: noon, observations, causes }, plain)).toBe(
    `12:00:00.000  observed ${line}\n`,
  );
});

describe('a decision', () => {
  test('is printed with its writes, why it is incomplete, and its Events', () => {
    const write = (verb: 'create' | 'delete', name: string) => ({
      ...{ verb, resource: 'endpointslices' as const, name, endpoints: [] },
    });
    const mutations = [write('create', 'web-a'), write('delete', 'web-b')];
    const events = [{ reason: 'TopologyAwareHintsDisabled', message: 'too few endpoints' }];
    expect(linesOf(decided({ mutations, incomplete: ['Node n not found'], events }))).toEqual([
      'endpointslice: create endpointslices web-a, delete endpointslices web-b',
      'incomplete: Node n not found',
      'TopologyAwareHintsDisabled: too few endpoints',
    ]);
  });

  test('may need no writes', () => {
    expect(linesOf(decided())).toEqual(['endpointslice: no writes needed']);
  });
});

describe('a completed write', () => {
  test.each(['conflict', 'unavailable'] as const)('%s without a request was returned, which is no error', (status) => {
    const message = 'a former owner of the partition may have applied it';
    expect(printEntry(completed({ status, message }), marked)).toBe(
      `12:00:00.000  returned endpointslice: no writes\n${' '.repeat(23)}<dim:${message}>\n`,
    );
    const writes = [{ verb: 'update', resource: 'endpointslices', name: 'web-a', ok: false }] as const;
    expect(printEntry(completed({ status, message, writes: [...writes] }), marked)).toContain('<red:');
  });

  const writes = [
    { verb: 'create' as const, resource: 'endpointslices' as const, name: 'web-a', ok: true },
    { verb: 'update' as const, resource: 'endpointslices' as const, name: 'web-b', ok: true },
  ];

  test('is printed with how long it took, its retries and its causes', () => {
    const more = { first: [...causes.first, { description: 'Node n deleted', observedAt: noon }], more: 3 };
    expect(linesOf(completed({ writes, latencyMs: 12, retries: 2, causes: more }))).toEqual([
      'endpointslice: create web-a, update web-b, 12 ms after the first cause, 2 retries',
      'because: Pod shop/web-1 deleted, Node n deleted, 3 more',
    ]);
    expect(linesOf(completed())).toEqual(['endpointslice: no writes']);
  });

  test('that was slow says what held it', () => {
    const spent = [{ where: 'write cooldown', ms: 1_800 } as const, { where: 'API server', ms: 60 } as const];
    expect(linesOf(completed({ writes, latencyMs: 1_860, spent, causes }))).toEqual([
      'endpointslice: create web-a, update web-b, 1.9 s after the first cause',
      'took 1.9 s: held 1.8 s by the write cooldown, API server 60 ms',
      'because: Pod shop/web-1 deleted',
    ]);
  });

  test('that failed is red and says why, one that was applied is bold', () => {
    const failed = completed({ status: 'rejected', message: 'denied by a webhook', writes });
    expect(printEntry(failed, marked)).toBe(
      '12:00:00.000  rejected <red:endpointslice: create web-a, update web-b>\n' +
        '                       <dim:denied by a webhook>\n',
    );
    expect(printEntry(completed(), marked)).toContain('applied  <bold:endpointslice: no writes>');
    expect(printEntry(decided(), marked)).toContain('decided  endpointslice: no writes needed\n');
  });

  const ready = { ready: true, serving: true, terminating: false, zone: 'a', hints: [] };
  const change = (given: Partial<Change>): Change => ({
    ...{ type: 'changed', pod: 'web-1', addresses: ['10.0.0.1'], slice: 'web-a', before: ready, after: ready },
    ...given,
  });

  test.each<[string, Partial<Change>]>([
    ['+ web-1 10.0.0.1, ready, zone a', { type: 'added', before: null }],
    [
      '+ 10.0.0.8 10.0.0.9, ready, zone a',
      { type: 'added', before: null, pod: '', addresses: ['10.0.0.8', '10.0.0.9'] },
    ],
    ['+ web-1 10.0.0.1', { type: 'added', before: null, after: null }],
    ['− web-1 10.0.0.1, was ready, zone a', { type: 'removed', after: null }],
    ['− web-1 10.0.0.1', { type: 'removed', before: null, after: null }],
    ['~ web-1 10.0.0.1: ready → not ready', { after: { ...ready, ready: false, serving: false } }],
    [
      '~ web-1 10.0.0.1: ready → not ready, terminating, serving',
      { after: { ...ready, ready: false, terminating: true } },
    ],
    [
      '~ web-1 10.0.0.1: ready → not ready, terminating',
      { after: { ...ready, ready: false, serving: false, terminating: true } },
    ],
    ['~ web-1 10.0.0.1: zone a → zone b', { after: { ...ready, zone: 'b' } }],
    ['~ web-1 10.0.0.1: zone a → (none)', { after: { ...ready, zone: '' } }],
    ['~ web-1 10.0.0.1: (none) → for a, node:n1', { after: { ...ready, hints: ['a', 'node:n1'] } }],
  ])('changes an endpoint: %s', (line, given) => {
    expect(linesOf(completed({ endpoints: [change(given)] }))).toEqual(['endpointslice: no writes', line]);
  });
});

describe('above the entries', () => {
  const view = (given: Partial<HistoryView> = {}): HistoryView => ({
    ...{ since: noon, gaps: [], unreadable: [], retentionMs: 1, total: 1, outage: null, entries: [completed()] },
    ...given,
  });

  test.each<[string, Partial<HistoryView>, number | undefined]>([
    ['', {}, undefined],
    ['', {}, noon],
    ['<dim:The history starts at 12:00:00.000.>\n', {}, noon - 1],
    [
      '<dim:Nothing was recorded from 12:00:01.000 to 12:00:02.000.>\n<dim:a.sqlite is damaged>\n',
      { gaps: [{ from: noon + 1_000, to: noon + 2_000 }], unreadable: ['a.sqlite is damaged'] },
      undefined,
    ],
    ['', { gaps: [{ from: noon - 2_000, to: noon - 1_000 }] }, noon],
    ['<dim:Showing the last 1 of 2 entries.>\n', { total: 2 }, undefined],
    ['<dim:No entries in this period.>\n', { total: 0, entries: [] }, undefined],
  ])('%j', (text, given, since) => {
    expect(historyPreface(view(given), since, marked)).toBe(text);
  });
});
