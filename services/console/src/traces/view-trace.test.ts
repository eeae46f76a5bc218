import { describe, expect, test } from 'vitest';
import { orderSpans } from './view-trace.ts';

describe('order spans', () => {
  const span = (id: string, parent: string | null, startedAt: number) => ({ id, parent, startedAt });
  const outline = (spans: Parameters<typeof orderSpans>[0]) =>
    orderSpans(spans).map(({ id, depth }) => `${'-'.repeat(depth)}${id}`);

  test('orders spans below their parent, siblings by start time', () => {
    const spans = [span('c', 'a', 3), span('b', 'a', 2), span('d', 'b', 9), span('a', null, 1)];
    expect(outline(spans)).toEqual(['a', '-b', '--d', '-c']);
  });

  test('includes spans with a missing parent and spans in a cycle', () => {
    expect(outline([span('a', null, 1), span('b', 'lost', 2)])).toEqual(['a', 'b']);
    expect(outline([span('x', 'y', 1), span('y', 'x', 2), span('z', 'z', 3)]).sort()).toEqual(['-y', 'x', 'z']);
  });

  test('handles a trace of 20,000 nested spans', () => {
    const spans = Array.from({ length: 20_000 }, (_, i) => span(String(i), i === 0 ? null : String(i - 1), i));
    expect(orderSpans(spans).at(-1)?.depth).toBe(19_999);
  });

  test('a span with a missing parent is a root, in the order of the roots', () => {
    expect(outline([span('a', null, 5), span('b', 'lost', 2), span('c', 'b', 3)])).toEqual(['b', '-c', 'a']);
  });
});
