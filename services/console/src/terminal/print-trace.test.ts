import { describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../client/console-client.ts';
import { markedFormat } from '../testing/marked-format.ts';
import type { SpanView, TraceView } from '../view/schemas.ts';
import { printTrace } from './print-trace.ts';
import { printTraces, traceLines } from './print-traces.ts';
import { textFormatFor, traceOf } from './text.ts';

const noon = new Date(2026, 0, 1, 12, 0, 0).getTime();
const plain = textFormatFor({}, noon);
const id = 'a'.repeat(32);

const span = (given: Partial<SpanView>): SpanView => ({
  ...{ id: '1', parent: null, depth: 0, service: 'sluice-watcher', name: 'observe', startedAt: noon, durationMs: 100 },
  ...{ error: null, attributes: [], links: [] },
  ...given,
});
const trace = (given: Partial<TraceView>): TraceView => ({
  ...{ traceId: id, startedAt: noon, durationMs: 100, cause: null, service: null, services: [], spent: [] },
  spans: [span({})],
  ...given,
});
const lines = (view: Partial<TraceView>, width?: number) =>
  printTrace(trace(view), width === undefined ? plain : { ...plain, width }).split('\n');

describe('a trace', () => {
  test('is a tree of spans, each with its start, its duration and a bar for both', () => {
    const spans = [
      span({}),
      span({ depth: 1, service: 'sluice-writer', name: 'PATCH', startedAt: noon + 50, durationMs: 9.99 }),
      span({ depth: 2, service: 'other', name: 'end', startedAt: noon + 100, durationMs: 0 }),
    ];
    const spent = [
      { where: 'API server', ms: 60 },
      { where: 'writer queue', ms: 36 },
      { where: 'bus', ms: 4 },
    ] as const;
    expect(lines({ spans, spent: [...spent], cause: 'Pod shop/web-1 deleted' })).toEqual([
      `Pod shop/web-1 deleted, 12:00:00.000: 100.0 ms, trace ${id}`,
      '60 % API server, 36 % writer queue',
      'SPAN                 AT ms   TOOK ms',
      `watcher: observe      0.00     100.0  ${'█'.repeat(30)}`,
      `  writer: PATCH       50.0      9.99  ${' '.repeat(15)}███`,
      `    other: end       100.0      0.00  ${' '.repeat(29)}█`,
      '',
    ]);
  });

  test('shows the status of a request, an error, and the trace that continues it', () => {
    const attribute = (name: string, value: string) => ({ name, value });
    const links = [
      { traceId: 'b', spanId: '1', carries: true },
      { traceId: 'c', spanId: '1', carries: false },
    ];
    const spans = [
      span({
        name: 'a',
        attributes: [attribute('sluice.status', 'applied'), attribute('http.response.status_code', '200')],
      }),
      span({ name: 'b', attributes: [attribute('x', 'y'), attribute('sluice.status', 'conflict')], links }),
      span({ name: 'c', depth: 2, service: 'my-sluice-x', error: 'conflict: changed' }),
    ];
    const [, , first, second, third, error] = lines({ spans });
    expect(first).toMatch(/^watcher: a 200 +0\.00/);
    expect(second).toMatch(/^watcher: b conflict → trace c +0\.00/);
    expect(third).toMatch(/^ {4}my-sluice-x: c +0\.00/);
    expect(error).toBe('      conflict: changed');
  });

  test('fits in the terminal: names are shortened, and bars have 10 to 30 columns', () => {
    const row = (width: number) =>
      lines({ spans: [span({ name: 'x'.repeat(100) })] }, width).find((line) => line.includes('█')) ?? '';
    const bars = [Number.POSITIVE_INFINITY, 80, 76, 66, 60, 50].map((width) => /█+/.exec(row(width))?.[0].length);
    expect(bars).toEqual([30, 30, 30, 20, 14, 10]);
    for (const width of [60, 66, 80, 120]) expect(row(width)).toHaveLength(width);
    expect(row(Number.POSITIVE_INFINITY).indexOf(' ', 'watcher: '.length)).toBe(72);
    expect(row(60)).toMatch(/^watcher: x+…x+ /);
  });

  test('is bold and dim where it explains, and red where it failed', () => {
    const spans = [span({ name: 'a' }), span({ name: 'b', error: 'changed' })];
    const [title, head, first, second, error] = printTrace(trace({ spans }), markedFormat(noon)).split('\n');
    expect(title).toMatch(/^<bold:12:00/);
    expect(head).toMatch(/^<dim:SPAN/);
    expect(first).not.toContain('red');
    expect(second).toMatch(/^<red:watcher: b> .*<red:█+>$/);
    expect(error).toBe('  <red:changed>');
  });

  test('has hundredths of a millisecond below ten', () => {
    expect(lines({ durationMs: 10, spans: [span({ durationMs: 9.996 })] })[2]).toContain('10.00');
    expect(lines({ durationMs: 10, spans: [span({ durationMs: 10 })] })[2]).toMatch(/ 10\.0 /);
  });

  test('of no duration has a bar as well', () => {
    expect(lines({ durationMs: 0, spans: [span({ durationMs: 0 })] })[2]).toMatch(/ {2}█$/);
  });
});

describe('the traces of writes', () => {
  const entry = (given: object): HistoryEntry =>
    ({
      ...{ kind: 'completed', at: noon, controller: 'endpointslice', status: 'applied', latencyMs: 12 },
      causes: { first: [{ description: 'Pod shop/web-1 deleted', observedAt: noon }], more: 2 },
      ...{ traceparent: `00-${id}-b7ad6b7169203331-01` },
      ...given,
    }) as unknown as HistoryEntry;
  const view = (...entries: HistoryEntry[]) => ({
    ...{ since: 0, gaps: [], unreadable: [], retentionMs: 1, total: entries.length, outage: null, entries },
  });
  const jaeger = 'http://jaeger/{traceId}/x/{traceId}';

  test('are listed newest first, with a link if they were recorded', () => {
    const unrecorded = { at: noon + 1, traceparent: `00-${id}-b7ad6b7169203331-00` };
    const entries = [entry({}), entry({ traceparent: undefined }), entry({ kind: 'decided' }), entry(unrecorded)];
    const found = traceLines(view(...entries), jaeger);
    const common = { traceId: id, controller: 'endpointslice', status: 'applied', latencyMs: 12 };
    expect(found).toEqual([
      { ...common, at: noon + 1, recorded: false, link: null, causes: 'Pod shop/web-1 deleted, 2 more' },
      {
        ...common,
        at: noon,
        recorded: true,
        link: `http://jaeger/${id}/x/${id}`,
        causes: 'Pod shop/web-1 deleted, 2 more',
      },
    ]);
    expect(traceLines(view(entry({})), null)).toMatchObject([{ link: null, recorded: true }]);
  });

  test('are a table', () => {
    const found = [
      ...traceLines(view(entry({ latencyMs: null, traceparent: `00-${id}-b7ad6b7169203331-00` })), jaeger),
      ...traceLines(view(entry({})), null),
      ...traceLines(view(entry({})), 'http://jaeger/{traceId}'),
    ];
    const rows = printTraces(found, plain)
      .trimEnd()
      .split('\n')
      .map((row) => row.split(/ {3,}/));
    const because = 'Pod shop/web-1 deleted, 2 more';
    expect(rows).toEqual([
      ['TIME', 'TOOK', 'CONTROLLER', 'STATUS', 'TRACE', 'BECAUSE'],
      ['12:00:00.000', 'endpointslice', 'applied', `${id} (not recorded)`, because],
      ['12:00:00.000', '12 ms', 'endpointslice', 'applied', id, because],
      ['12:00:00.000', '12 ms', 'endpointslice', 'applied', `http://jaeger/${id}`, because],
    ]);
  });

  test.each([
    [{ id, recorded: true }, `00-${id}-b7ad6b7169203331-01`],
    [{ id, recorded: true }, `00-${id}-b7ad6b7169203331-03`],
    [{ id, recorded: false }, `00-${id}-b7ad6b7169203331-02`],
    [undefined, `00-${id}-b7ad6b7169203331`],
    [undefined, `x00-${id}-b7ad6b7169203331-01`],
    [undefined, `00-${id}-b7ad6b7169203331-01x`],
    [undefined, undefined],
  ])('%j is the trace of %s', (found, traceparent) => {
    expect(traceOf(traceparent)).toEqual(found);
  });
});
