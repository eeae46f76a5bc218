import { expect, test } from 'vitest';
import { inTreeOrder } from './span-tree.ts';

const span = (id: string, parent: string | null, startedAt: number) => ({ id, parent, startedAt });
const outline = (spans: Parameters<typeof inTreeOrder>[0]) =>
  inTreeOrder(spans).map(({ id, depth }) => `${'-'.repeat(depth)}${id}`);

test('each below its parent, siblings in the order of their beginning', () => {
  const spans = [span('c', 'a', 3), span('b', 'a', 2), span('d', 'b', 9), span('a', null, 1)];
  expect(outline(spans)).toEqual(['a', '-b', '--d', '-c']);
});

test('none is left out: not one whose parent is missing, and not those that go round in a circle', () => {
  expect(outline([span('a', null, 1), span('b', 'lost', 2)])).toEqual(['a', 'b']);
  expect(outline([span('x', 'y', 1), span('y', 'x', 2), span('z', 'z', 3)]).sort()).toEqual(['-y', 'x', 'z']);
});

test('a trace as deep as it is long', () => {
  const spans = Array.from({ length: 20_000 }, (_, i) => span(String(i), i === 0 ? null : String(i - 1), i));
  expect(inTreeOrder(spans).at(-1)?.depth).toBe(19_999);
});
