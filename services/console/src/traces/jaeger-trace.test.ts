import { expect, test } from 'vitest';
import { readJaegerTrace } from './jaeger-trace.ts';

const [traceID, other] = ['a'.repeat(32), 'b'.repeat(32)];
const tags = (given: Readonly<Record<string, string | number | boolean>>) =>
  Object.entries(given).map(([key, value]) => ({ key, type: typeof value, value }));
const span = (spanID: string, given: object) => ({
  ...{ traceID, spanID, operationName: 'decide', startTime: 1_000_500, duration: 250, processID: 'p1' },
  ...given,
});
const answer = (...spans: object[]) => ({
  data: [
    { traceID, spans, processes: { p1: { serviceName: 'sluice-watcher' }, p2: { serviceName: 'sluice-writer' } } },
  ],
});

test('times are in milliseconds, and what it is about is taken from its attributes', () => {
  const about = { 'k8s.cluster.uid': 'uid', 'k8s.namespace.name': 'shop', 'k8s.service.name': 'web' };
  const cause = { 'sluice.cause': 'Pod shop/web-1 deleted', 'span.kind': 'internal', 'sluice.writes': 2 };
  const child = { references: [{ refType: 'CHILD_OF', traceID, spanID: '1' }], startTime: 1_001_000, processID: 'p2' };
  expect(readJaegerTrace(answer(span('2', child), span('1', { tags: tags({ ...about, ...cause }) })))).toMatchObject({
    ...{ traceId: traceID, startedAt: 1_000.5, durationMs: 0.75, cause: 'Pod shop/web-1 deleted' },
    service: { cluster: 'uid', namespace: 'shop', name: 'web' },
    services: ['sluice-watcher', 'sluice-writer'],
    spans: [
      { id: '1', depth: 0, parent: null, attributes: expect.arrayContaining([{ name: 'sluice.writes', value: '2' }]) },
      { id: '2', depth: 1, parent: '1', service: 'sluice-writer', durationMs: 0.25 },
    ],
  });
});

test('an error has its reason, and is not told twice', () => {
  const failed = tags({ error: true, 'otel.status_code': 'ERROR', 'otel.status_description': 'conflict: changed' });
  const read = readJaegerTrace(answer(span('1', { tags: failed }), span('2', { tags: tags({ error: true }) })));
  expect(read?.spans).toMatchObject([
    { error: 'conflict: changed', attributes: [] },
    { error: 'failed', attributes: [] },
  ]);
});

test('links lead on to the write, or back to what came together', () => {
  const references = [{ refType: 'FOLLOWS_FROM', traceID: other, spanID: '9' }];
  const carried = span('1', { references, tags: tags({ 'sluice.coalesced': true }) });
  const carrying = span('2', { references });
  expect(readJaegerTrace(answer(carried, carrying))?.spans.map(({ links }) => links)).toEqual([
    [{ traceId: other, spanId: '9', carries: false }],
    [{ traceId: other, spanId: '9', carries: true }],
  ]);
});

test('no trace, and what is no answer of Jaeger', () => {
  expect(readJaegerTrace({ data: [] })).toBeNull();
  expect(readJaegerTrace({ data: null })).toBeNull();
  expect(readJaegerTrace(answer())).toBeNull();
  expect(() => readJaegerTrace({ data: [{ spans: 1 }] })).toThrow('no Jaeger');
  expect(() => readJaegerTrace('<html>')).toThrow('no Jaeger');
});
