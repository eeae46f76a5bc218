import { isSampled, maxTraces, siblingOf, spanIdOf, type TraceContext, traceIdOf } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { ChangeTraces, type TracedCause } from './change-traces.ts';
import { SamplingTracer } from './testing/sampling-tracer.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
let tracer: SamplingTracer;
let clock: VirtualClock;
let traces: ChangeTraces;

beforeEach(() => {
  tracer = new SamplingTracer();
  clock = new VirtualClock(1_000);
  traces = new ChangeTraces({ tracer, clock, fencingToken: 7 });
});

const cause = (name: string, observedAt = 900) => ({ description: `Pod shop/${name} added`, observedAt });

/** Coalesces the causes of a Change, whose traces are sampled as given. */
function coalesced(...sampled: boolean[]): readonly TracedCause[] {
  tracer.sampling = [...sampled];
  return sampled.reduce<readonly TracedCause[]>((causes, _, i) => traces.start(causes, cause(`web-${i}`)), []);
}

const names = (causes: readonly TracedCause[]) => causes.map(({ cause: { description } }) => description);

describe('of coalesced causes', () => {
  test.each([
    ['the first is kept, sampled or not', [false], ['web-0']],
    ['others that are not sampled are dropped', [false, false], ['web-0']],
    ['the first sampled one takes the place of one that is not', [false, true], ['web-1']],
    ['sampled ones follow the first', [true, false, true], ['web-0', 'web-2']],
  ])('%s', (_, sampled, kept) => {
    expect(names(coalesced(...sampled))).toEqual(kept.map((name) => `Pod shop/${name} added`));
  });

  test('a limited number is kept', () => {
    expect(coalesced(...new Array(maxTraces + 1).fill(true))).toHaveLength(maxTraces);
  });

  test('each has a trace of its own', () => {
    const ids = coalesced(true, true, true).map(({ trace }) => traceIdOf(trace));
    expect(new Set(ids).size).toBe(3);
  });
});

function publish(causes: readonly TracedCause[]): void {
  const change = traces.composed(key, 'c/7/1', causes);
  clock.step(1_500);
  traces.published(3, [change]);
}

const ofCause = (trace: TraceContext) => tracer.spans.find(({ context }) => context === siblingOf(trace, 'create'));

describe('a published Change', () => {
  test('is recorded as the time from the event to the Change, and from there to the log', () => {
    const causes = coalesced(true);
    publish(causes);
    const { spans } = tracer;
    const [{ trace } = { trace: '' }] = causes;
    const attributes = { 'k8s.service.name': 'web', 'sluice.fencing_token': 7 };
    expect(spans).toMatchObject([
      { name: 'watch Pod', kind: 'internal', parent: null, startedAt: 900, endedAt: 1_000, attributes, links: [] },
      {
        name: 'publish changes',
        kind: 'producer',
        context: trace,
        startedAt: 1_000,
        endedAt: 1_500,
        attributes,
        links: [],
      },
    ]);
    expect(spans[0]?.attributes).toMatchObject({ 'sluice.cause': 'Pod shop/web-0 added' });
    expect(spans[0]?.attributes).not.toHaveProperty('sluice.coalesced');
    expect(spans[1]?.parent).toBe(spans[0]?.context);
    expect(spans[1]?.attributes).toMatchObject({
      'messaging.destination.name': 'changes',
      'messaging.destination.partition.id': '3',
      'messaging.message.id': 'c/7/1',
      'messaging.operation.name': 'publish',
    });
    expect(new Set(spans.map(({ context }) => spanIdOf(context))).size).toBe(2);
  });

  test('links the traces of coalesced causes, which end in it', () => {
    const causes = coalesced(true, true);
    publish(causes);
    const [first = '', second = ''] = causes.map(({ trace }) => trace);
    expect(tracer.spans).toHaveLength(3);
    expect(ofCause(second)).toMatchObject({ links: [first], attributes: { 'sluice.coalesced': true } });
    expect(tracer.spans.find(({ name }) => name === 'publish changes')).toMatchObject({
      context: first,
      links: [siblingOf(second, 'create')],
    });
  });

  test('that is not sampled, or has no cause, is not recorded', () => {
    const causes = coalesced(false);
    expect(causes.map(({ trace }) => isSampled(trace))).toEqual([false]);
    publish(causes);
    publish([]);
    expect(tracer.spans).toEqual([]);
  });
});
