import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OtlpTracing } from './otlp-tracing.ts';
import { RecentSpans } from './recent-spans.ts';

const clock = new VirtualClock(0);
let tracing: OtlpTracing;
let spans: RecentSpans;

beforeEach(() => {
  spans = new RecentSpans(3);
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  const systems = { messaging: 'memory', store: 'memory' };
  const options = { ...ports, endpoint: 'memory', ratio: 1, slowMs: 1_000, fleet: 'f', member: 'm', version: '1' };
  tracing = new OtlpTracing({ ...options, systems }, spans);
});
afterEach(async () => {
  const closed = tracing.close(0);
  clock.step(clock.now() + 1);
  await closed;
});

/** Records the root span of a new trace, and returns the trace's id. */
function record(name: string): string {
  const tracer = tracing.tracer('sluice-writer');
  const context = tracer.startTrace();
  const span = { name, kind: 'internal', context, parent: null, startedAt: 1_000, endedAt: 1_002.5 } as const;
  tracer.record({ ...span, attributes: { 'sluice.writes': 2 }, error: 'conflict' });
  return context.split('-')[1] ?? '';
}

test('keeps a span as people see it', async () => {
  const id = record('decide');
  await tracing.flush(1_000);
  expect(spans.of(id)).toEqual([
    {
      ...{ id: expect.stringMatching(/^[0-9a-f]{16}$/), parent: null, service: 'sluice-writer', name: 'decide' },
      ...{ startedAt: 1_000, durationMs: 2.5, error: 'conflict' },
      attributes: [{ name: 'sluice.writes', value: '2' }],
      links: [],
    },
  ]);
});

test('drops the oldest traces when there are too many spans', async () => {
  const ids = ['a', 'b', 'c', 'd'].map(record);
  await tracing.flush(1_000);
  expect(ids.map((id) => spans.of(id).map(({ name }) => name))).toEqual([[], ['b'], ['c'], ['d']]);
});
