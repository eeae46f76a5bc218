import { describe, expect, test } from 'vitest';
import {
  isSampled,
  maxTraces,
  mergeTraces,
  sampled,
  siblingOf,
  spanIdOf,
  traceContext,
  traceHeaders,
  traceIdOf,
  traceOf,
  withSpan,
} from './trace-context.ts';

const [id, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const of = (n: number, isRecorded: boolean) => traceContext(String(n).padStart(32, 'a'), span, isRecorded);

describe('the header traceparent', () => {
  test('round-trips', () => {
    const trace = traceContext(id, span, true);
    expect(trace).toBe('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    expect(traceOf(traceHeaders(trace))).toBe(trace);
    expect([traceIdOf(trace), spanIdOf(trace), isSampled(trace)]).toEqual([id, span, true]);
    expect(traceOf(traceHeaders(undefined))).toBeUndefined();
  });

  test.each([
    ['of a later version, with more fields', `01-${id}-${span}-01-more`, `00-${id}-${span}-01`],
    ['with unknown flags', `00-${id}-${span}-03`, `00-${id}-${span}-01`],
    ['with unknown flags only', `00-${id}-${span}-02`, `00-${id}-${span}-00`],
  ])('%s is valid', (_, text, trace) => expect(traceOf({ traceparent: text })).toBe(trace));

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
  ])('%j is ignored', (text) => expect(traceOf({ traceparent: text })).toBeUndefined());
});

describe('the header tracestate', () => {
  const traceparent = `00-${id}-${span}-01`;

  test('travels with its traceparent, to every span of the trace', () => {
    const headers = { traceparent, tracestate: 'vendor=a b, other=c' };
    const context = traceOf(headers);
    expect(traceHeaders(context)).toEqual(headers);
    const sibling = siblingOf(context ?? '', 'process');
    expect(traceHeaders(sibling)).toEqual({
      traceparent: expect.not.stringContaining(span),
      tracestate: headers.tracestate,
    });
    expect([isSampled(sibling), sampled(sibling)]).toEqual([true, sibling]);
    expect(spanIdOf(withSpan(sibling, span))).toBe(span);
  });

  test.each(['', 'a=b\r\nx: y', 'a=é', `a=${'b'.repeat(511)}`])('%j is dropped', (tracestate) =>
    expect(traceOf({ traceparent, tracestate })).toBe(traceparent),
  );

  test('is ignored without a traceparent', () => expect(traceOf({ tracestate: 'a=b' })).toBeUndefined());
});

test('siblings are different spans of one trace, and derive from each other', () => {
  const publish = traceContext(id, span, false);
  const steps = (['publish', 'create', 'process', 'commit'] as const).map((step) => siblingOf(publish, step));
  expect(new Set(steps.map(spanIdOf)).size).toBe(4);
  expect(new Set(steps.map(traceIdOf))).toEqual(new Set([id]));
  expect(steps[0]).toBe(publish);
  expect(siblingOf(sampled(publish), 'create')).toBe(sampled(siblingOf(publish, 'create')));
});

describe('merging traces', () => {
  test('puts the earliest sampled trace first and keeps only sampled ones after it', () => {
    expect(mergeTraces([of(1, false)], [of(2, true)])).toEqual([of(2, true)]);
    expect(mergeTraces([of(1, true)], [of(2, false)])).toEqual([of(1, true)]);
    expect(mergeTraces([of(1, true)], [of(2, true), of(1, true)])).toEqual([of(1, true), of(2, true)]);
    expect(mergeTraces([of(1, false)], [of(2, false)])).toEqual([of(1, false)]);
    expect(mergeTraces(undefined, [of(2, false)])).toEqual([of(2, false)]);
    expect(mergeTraces(undefined, undefined)).toBeUndefined();
  });

  test('keeps at most maxTraces', () => {
    const many = Array.from({ length: 100 }, (_, n) => of(n, true));
    expect(mergeTraces(many.slice(0, 50), many.slice(50))).toEqual(many.slice(0, maxTraces));
  });
});
