import { beforeEach, describe, expect, test } from 'vitest';
import { type DirtyReason, DirtySet } from './dirty-set.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const text = 'c/shop/web';
let set: DirtySet;

beforeEach(() => {
  set = new DirtySet();
});

const cause = (description: string) => ({ description, observedAt: 1 });
const add = (reason: DirtyReason, description?: string) =>
  set.add(text, key, reason, description === undefined ? undefined : cause(description));

const change: DirtyReason = { kind: 'pod', name: 'p' };
const echoes: readonly DirtyReason[] = [
  { kind: 'endpoints', uid: 'u', isWatchEcho: true },
  { kind: 'slice', name: 's', uid: 'u', relabelled: false, isWatchEcho: true },
];

test('Services are taken in the order in which they became dirty', () => {
  for (const service of ['a', 'b', 'a', 'c']) set.add(`c/shop/${service}`, { ...key, service }, change, undefined);
  expect([set.size, set.has('c/shop/b'), set.has(text)]).toEqual([3, true, false]);
  expect(set.first(2)).toEqual(['c/shop/a', 'c/shop/b']);
  expect(set.take('c/shop/a')?.key.service).toBe('a');
  expect(set.take('c/shop/a')).toBeUndefined();
  expect(set.first(9)).toEqual(['c/shop/b', 'c/shop/c']);
});

test('an entry has everything that changed, with the latest state of each object', () => {
  add({ kind: 'pod', name: 'p' });
  add({ kind: 'pod', name: 'q' });
  add({ kind: 'pod', name: 'p' });
  add({ kind: 'slice', name: 's', uid: 'u1', relabelled: true, labelledFor: 'db', manager: 'kubectl' });
  add({ kind: 'slice', name: 't', uid: 'u2', relabelled: false });
  add({ kind: 'slice', name: 's', uid: 'u3', relabelled: false });
  add({ kind: 'endpoints', uid: 'e1' });
  add({ kind: 'endpoints', uid: 'e2', manager: 'kubectl' });
  add({ kind: 'topology' });
  const entry = set.take(text);
  expect([...(entry?.pods ?? [])]).toEqual(['p', 'q']);
  expect([...(entry?.slices ?? [])]).toMatchObject([
    ['s', { uid: 'u3', relabelled: false }],
    ['t', { uid: 'u2', relabelled: false }],
  ]);
  expect(entry).toMatchObject({ endpoints: { uid: 'e2', manager: 'kubectl' }, topology: true });
  expect(entry).toMatchObject({ service: false, snapshot: false, initial: false, digest: false });
});

test.each<[DirtyReason, object]>([
  [{ kind: 'relist' }, {}],
  [{ kind: 'digest' }, { digest: true }],
  [{ kind: 'service' }, { service: true }],
  [{ kind: 'topology' }, { topology: true }],
  [{ kind: 'snapshot', initial: false }, { snapshot: true }],
  [
    { kind: 'snapshot', initial: true },
    { snapshot: true, initial: true },
  ],
])('%j publishes nothing else', (reason, expected) => {
  const flags = { snapshot: false, initial: false, service: false, topology: false, digest: false };
  expect(add(reason)).toMatchObject({ ...flags, endpoints: undefined, ...expected });
});

const causes = () => set.take(text)?.causes.first.map(({ description }) => description);

describe.each(echoes)('a watch echo, $kind,', (echo) => {
  test('is the cause of a Change that has nothing else', () => {
    add(echo, 'echo');
    expect(add(echo, 'another echo').isWatchEcho).toBe(true);
    expect(causes()).toEqual(['echo', 'another echo']);
  });

  test('is no cause of a Change that something else comes with, before or after', () => {
    add(echo, 'echo');
    expect(add(change, 'change').isWatchEcho).toBe(false);
    expect(add(echo, 'another echo').isWatchEcho).toBe(false);
    expect(causes()).toEqual(['change']);
  });

  test('is published all the same', () => {
    add(change, 'change');
    add(echo, 'echo');
    const entry = set.take(text);
    expect(echo.kind === 'slice' ? entry?.slices.has('s') : entry?.endpoints?.uid).toBeTruthy();
  });
});

test('a later cause belongs to the next Change once the entry is taken', () => {
  add(change, 'first');
  set.take(text);
  add(change, 'second');
  expect(causes()).toEqual(['second']);
});
