import { expect, test } from 'vitest';
import { parseJaegerTrace } from './parse-jaeger-trace.ts';

const [traceID, other] = ['a'.repeat(32), 'b'.repeat(32)];
const tags = (given: Readonly<Record<string, string | number | boolean>>) =>
  Object.entries(given).map(([key, value]) => ({ key, type: typeof value, value }));
const span = (spanID: string, given: object) => ({
  ...{ traceID, spanID, operationName: 'decide', startTime: 1_000_500, duration: 250, processID: 'p1' },
  ...given,
});
const response = (...spans: object[]) => ({
  data: [
    { traceID, spans, processes: { p1: { serviceName: 'sluice-watcher' }, p2: { serviceName: 'sluice-writer' } } },
  ],
});

test('converts times to milliseconds and reads the Service from attributes', () => {
  const about = { 'k8s.cluster.uid': 'uid', 'k8s.namespace.name': 'shop', 'k8s.service.name': 'web' };
  const cause = { 'sluice.cause': 'Pod shop/web-1 deleted', 'span.kind': 'internal', 'sluice.writes': 2 };
  const child = { references: [{ refType: 'CHILD_OF', traceID, spanID: '1' }], startTime: 1_001_000, processID: 'p2' };
  expect(parseJaegerTrace(response(span('2', child), span('1', { tags: tags({ ...about, ...cause }) })))).toMatchObject(
    {
      ...{ traceId: traceID, startedAt: 1_000.5, durationMs: 0.75, cause: 'Pod shop/web-1 deleted' },
      service: { cluster: 'uid', namespace: 'shop', name: 'web' },
      services: ['sluice-watcher', 'sluice-writer'],
      spans: [
        {
          id: '1',
          depth: 0,
          parent: null,
          attributes: expect.arrayContaining([{ name: 'sluice.writes', value: '2' }]),
        },
        { id: '2', depth: 1, parent: '1', service: 'sluice-writer', durationMs: 0.25 },
      ],
    },
  );
});

test('reports an error once, with its description', () => {
  const failed = tags({ error: true, 'otel.status_code': 'ERROR', 'otel.status_description': 'conflict: changed' });
  const read = parseJaegerTrace(response(span('1', { tags: failed }), span('2', { tags: tags({ error: true }) })));
  expect(read?.spans).toMatchObject([
    { error: 'conflict: changed', attributes: [] },
    { error: 'failed', attributes: [] },
  ]);
});

test('distinguishes links to coalesced spans from links to the continuation', () => {
  const references = [{ refType: 'FOLLOWS_FROM', traceID: other, spanID: '9' }];
  const coalesced = span('1', { references, tags: tags({ 'sluice.coalesced': true }) });
  const continuation = span('2', { references });
  expect(parseJaegerTrace(response(coalesced, continuation))?.spans.map(({ links }) => links)).toEqual([
    [{ traceId: other, spanId: '9', carries: false }],
    [{ traceId: other, spanId: '9', carries: true }],
  ]);
});

test('returns null for an empty response and throws for any other format', () => {
  expect(parseJaegerTrace({ data: [] })).toBeNull();
  expect(parseJaegerTrace({ data: null })).toBeNull();
  expect(parseJaegerTrace(response())).toBeNull();
  expect(() => parseJaegerTrace({ data: [{ spans: 1 }] })).toThrow('not a Jaeger query API');
  expect(() => parseJaegerTrace('<html>')).toThrow('not a Jaeger query API');
});

test('a trace lasts from the first start to the last end, and names each service once', () => {
  const spans = [
    span('1', { startTime: 2_000, duration: 9_000 }),
    span('2', { startTime: 1_000, duration: 1_000 }),
    span('3', { startTime: 5_000, duration: 100, processID: 'p2' }),
  ];
  expect(parseJaegerTrace(response(...spans))).toMatchObject({
    ...{ startedAt: 1, durationMs: 10, cause: null, service: null },
    services: ['sluice-watcher', 'sluice-writer'],
  });
});

test.each(['k8s.cluster.uid', 'k8s.namespace.name', 'k8s.service.name'])('has no Service without %s', (missing) => {
  const about = { 'k8s.cluster.uid': 'uid', 'k8s.namespace.name': 'shop', 'k8s.service.name': 'web' };
  const known = Object.fromEntries(Object.entries(about).filter(([name]) => name !== missing));
  expect(parseJaegerTrace(response(span('1', { tags: tags(about) })))?.service).toEqual({
    ...{ cluster: 'uid', namespace: 'shop', name: 'web' },
  });
  expect(parseJaegerTrace(response(span('1', { tags: tags(known) })))?.service).toBeNull();
});

test('a span may have no attributes, no references and an unknown process', () => {
  const read = parseJaegerTrace(response(span('1', { tags: null, references: null, processID: 'p9' })));
  expect(read?.spans).toEqual([
    {
      ...{ id: '1', parent: null, depth: 0, service: '', name: 'decide', startedAt: 1_000.5, durationMs: 0.25 },
      ...{ error: null, attributes: [], links: [] },
    },
  ]);
});

test('the parent is in the same trace; any other reference is a link', () => {
  const references = [
    { refType: 'CHILD_OF', traceID: other, spanID: '8' },
    { refType: 'FOLLOWS_FROM', traceID, spanID: '9' },
    { refType: 'CHILD_OF', traceID, spanID: '1' },
  ];
  const read = parseJaegerTrace(response(span('1', {}), span('2', { references })));
  expect(read?.spans[1]).toMatchObject({
    parent: '1',
    links: [
      { traceId: other, spanId: '8' },
      { traceId: traceID, spanId: '9' },
    ],
  });
});

test('attributes that people do not need are left out; only the error true is one', () => {
  const noise = { 'span.kind': 'internal', 'internal.span.format': 'otlp', error: false, 'sluice.plan': '1.1' };
  expect(parseJaegerTrace(response(span('1', { tags: tags(noise) })))?.spans).toMatchObject([
    { error: null, attributes: [{ name: 'sluice.plan', value: '1.1' }] },
  ]);
});
