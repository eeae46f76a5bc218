import { describe, expect, test } from 'vitest';
import {
  isSampled,
  maxTraces,
  mergeTraces,
  sampled,
  spanIdOf,
  stepOf,
  traceHeaders,
  traceIdOf,
  traceOf,
  traceParent,
} from './trace-parent.ts';

const [id, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const of = (n: number, isRecorded: boolean) => traceParent(String(n).padStart(32, 'a'), span, isRecorded);

describe('the header traceparent', () => {
  test('is read as it was written', () => {
    const trace = traceParent(id, span, true);
    expect(trace).toBe('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    expect(traceOf(traceHeaders(trace))).toBe(trace);
    expect([traceIdOf(trace), spanIdOf(trace), isSampled(trace)]).toEqual([id, span, true]);
    expect(traceOf(traceHeaders(undefined))).toBeUndefined();
  });

  test.each([
    ['of a later version, with more behind', `01-${id}-${span}-01-more`, `00-${id}-${span}-01`],
    ['with flags that nobody knows yet', `00-${id}-${span}-03`, `00-${id}-${span}-01`],
    ['with other flags only', `00-${id}-${span}-02`, `00-${id}-${span}-00`],
  ])('%s is understood', (_, text, trace) => expect(traceOf({ traceparent: text })).toBe(trace));

  test.each([
    '',
    'garbage',
    `00-${id}-${span}`,
    `ff-${id}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${id}-${'0'.repeat(16)}-01`,
    `00-${id.toUpperCase()}-${span}-01`,
    `00-${id}-${span}-01-more`,
    `00-${id}-${span}-01\r\n`,
  ])('%j is as good as none', (text) => expect(traceOf({ traceparent: text })).toBeUndefined());
});

test('the steps of a message are spans of one trace, each its own, and lead to each other', () => {
  const publish = traceParent(id, span, false);
  const steps = (['publish', 'make', 'process', 'commit'] as const).map((step) => stepOf(publish, step));
  expect(new Set(steps.map(spanIdOf)).size).toBe(4);
  expect(new Set(steps.map(traceIdOf))).toEqual(new Set([id]));
  expect(steps[0]).toBe(publish);
  expect(stepOf(sampled(publish), 'make')).toBe(sampled(stepOf(publish, 'make')));
});

describe('of traces that come together', () => {
  test('the earliest recorded one leads, and only recorded ones follow', () => {
    expect(mergeTraces([of(1, false)], [of(2, true)])).toEqual([of(2, true)]);
    expect(mergeTraces([of(1, true)], [of(2, false)])).toEqual([of(1, true)]);
    expect(mergeTraces([of(1, true)], [of(2, true), of(1, true)])).toEqual([of(1, true), of(2, true)]);
    expect(mergeTraces([of(1, false)], [of(2, false)])).toEqual([of(1, false)]);
    expect(mergeTraces(undefined, [of(2, false)])).toEqual([of(2, false)]);
    expect(mergeTraces(undefined, undefined)).toBeUndefined();
  });

  test('a bounded number is remembered', () => {
    const many = Array.from({ length: 100 }, (_, n) => of(n, true));
    expect(mergeTraces(many.slice(0, 50), many.slice(50))).toEqual(many.slice(0, maxTraces));
  });
});
