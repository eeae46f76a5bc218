import { isSampled, sampled, siblingOf, spanIdOf, type TraceContext, traceIdOf, traceOf } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { RecordedSpans } from '../testing/recorded-spans.ts';
import { lateAttributes } from '../traces/spans.ts';
import type { Span, Tracer } from '../traces/tracer.ts';

let recorded: RecordedSpans;
let tracer: Tracer;

beforeEach(() => {
  recorded = new RecordedSpans();
  tracer = recorded.tracer({ seed: 1 });
});

const span = (context: TraceContext, more: Partial<Span> = {}): Span => ({
  ...{ name: 'decide', kind: 'internal', context, parent: null, startedAt: 1_000, endedAt: 1_250, attributes: {} },
  ...more,
});

describe('sampling', () => {
  const share = (ratio: number): number => {
    const one = recorded.tracer({ seed: 2, ratio });
    return Array.from({ length: 2_000 }, () => one.startTrace()).filter(isSampled).length / 2_000;
  };

  test('samples the given share of the traces', () => {
    expect([share(0), share(1)]).toEqual([0, 1]);
    expect(share(0.1)).toBeCloseTo(0.1, 1);
  });

  test.each([0, 1])('a child has the sampling decision of its parent (ratio %d)', (ratio) => {
    const one = recorded.tracer({ seed: 2, ratio });
    const parent = one.startTrace();
    const child = one.childOf(parent);
    expect(traceIdOf(child)).toBe(traceIdOf(parent));
    expect(spanIdOf(child)).not.toBe(spanIdOf(parent));
    expect(isSampled(child)).toBe(ratio === 1);
  });

  test('records the root span of an unsampled trace if it is recorded afterwards', () => {
    const one = recorded.tracer({ seed: 2, ratio: 0 });
    const root = sampled(one.startTrace());
    one.record(span(root, { attributes: lateAttributes }));
    one.record(span(sampled(one.childOf(root)), { parent: root }));
    expect(recorded.spans.map(({ context }) => traceIdOf(context))).toEqual([traceIdOf(root), traceIdOf(root)]);
  });
});

describe('a recorded span', () => {
  test('has the ids that messages carry, and its times', () => {
    const root = tracer.startTrace();
    const process = siblingOf(root, 'process');
    tracer.record(span(root));
    tracer.record(span(process, { name: 'process changes', kind: 'consumer', parent: root, endedAt: 900 }));
    expect(recorded.spans).toMatchObject([
      { name: 'decide', context: root, parent: null, startedAt: 1_000, endedAt: 1_250 },
      { name: 'process changes', context: process, parent: root, startedAt: 1_000, endedAt: 1_000 },
    ]);
  });

  test('has attributes, links and the description of a failure', () => {
    const [root, other] = [tracer.startTrace(), tracer.startTrace()];
    tracer.record(span(root, { attributes: { 'sluice.writes': 2 }, links: [other], error: 'rejected: forbidden' }));
    expect(recorded.spans).toMatchObject([
      { attributes: { 'sluice.writes': 2 }, links: [other], error: 'rejected: forbidden' },
    ]);
  });

  test('carries the tracestate of the trace it continues', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const parent = traceOf({ traceparent, tracestate: 'vendor=a,other=b' }) ?? '';
    const child = tracer.childOf(parent);
    tracer.record(span(child, { parent }));
    expect(recorded.spans[0]?.context).toBe(child);
    expect(child).toMatch(/-01 vendor=a,other=b$/);
  });
});
