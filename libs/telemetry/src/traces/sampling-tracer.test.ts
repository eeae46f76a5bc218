import { isSampled, spanIdOf, traceIdOf, traceOf } from '@sluice/messages';
import { seededRandom } from '@sluice/runtime';
import { describe, expect, test } from 'vitest';
import { SamplingTracer } from './sampling-tracer.ts';

const tracer = (ratio: number, next?: () => number) =>
  new SamplingTracer({
    ratio,
    slowMs: 1_000,
    systems: { messaging: 'memory', store: 'memory' },
    random: next === undefined ? seededRandom(1) : { next },
    sink: () => {},
  });
const recorded = (ratio: number, of = 2_000): number => {
  const one = tracer(ratio);
  return Array.from({ length: of }, () => one.begin()).filter(isSampled).length;
};

describe('of the traces that begin', () => {
  test('none, all or the share asked for is recorded', () => {
    expect(recorded(0)).toBe(0);
    expect(recorded(1)).toBe(2_000);
    expect(Math.abs(recorded(0.1) - 200)).toBeLessThan(40);
  });

  test.each([
    ['least', () => 0],
    ['greatest', () => 1 - Number.EPSILON],
  ])('the one of the %s id is one', (_, next) => {
    const trace = tracer(1, next).begin();
    expect(traceOf({ traceparent: trace })).toBe(trace);
    expect(isSampled(tracer(0, next).begin())).toBe(false);
  });
});

test.each([0, 1])('a further span is of the same trace, recorded or not as that is', (ratio) => {
  const one = tracer(ratio);
  const first = one.begin();
  const child = one.child(first);
  expect(traceIdOf(child)).toBe(traceIdOf(first));
  expect(spanIdOf(child)).not.toBe(spanIdOf(first));
  expect(isSampled(child)).toBe(ratio === 1);
});
