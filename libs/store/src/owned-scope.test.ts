import { expect, test } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { OwnedScope } from './owned-scope.ts';

const entry = { key: 'c/shop/web', field: 'service', value: 1 };
const at = (offset: number) => ({ offset, id: `r${offset}`, streamId: 's' });

const open = (store: MemoryStore, { fencingToken = 1, formatVersion = 3 } = {}) =>
  new OwnedScope({ store, scope: 'reconciler/1', fencingToken, formatVersion });

test('the next owner inherits the entries and the checkpoint, and each commit continues the last', async () => {
  const store = new MemoryStore();
  const first = open(store);
  expect(await first.claim()).toMatchObject({ entries: [], isReadable: true });
  await first.commit(at(4), [entry]);
  await first.commit(at(5), []);
  expect(first.checkpoint).toEqual(at(5));
  const second = open(store, { fencingToken: 2 });
  expect(await second.claim()).toEqual({ isNew: false, intact: true, entries: [entry], isReadable: true });
  expect(second.checkpoint).toEqual(at(5));
  await expect(first.commit(at(6), [])).rejects.toMatchObject({ code: 'FENCED' });
  expect(first.checkpoint).toEqual(at(5));
});

test('a commit that changes nothing does not reach the store', async () => {
  const store = new MemoryStore();
  const scope = open(store);
  await scope.claim();
  await open(store, { fencingToken: 2 }).claim();
  await scope.commit(scope.checkpoint, []);
});

test.each([
  ['an older program', 2],
  ['a newer program', 4],
])('what %s has stored is unreadable, and the next commit replaces it', async (_, formatVersion) => {
  const store = new MemoryStore();
  const other = open(store, { formatVersion });
  await other.claim();
  await other.commit(at(1), [entry, { ...entry, field: 'pods' }]);
  const scope = open(store);
  expect(await scope.claim()).toMatchObject({ isReadable: false, entries: [entry, { field: 'pods' }] });
  scope.discard();
  await scope.commit(at(2), [{ ...entry, value: 2 }]);
  expect(await open(store).claim()).toMatchObject({ isReadable: true, entries: [{ ...entry, value: 2 }] });
});

test('entries without a version are unreadable', async () => {
  const store = new MemoryStore();
  const commit = { scope: 'reconciler/1', fencingToken: 1, expectedOffset: 0, checkpoint: at(1), entries: [entry] };
  await store.claim('reconciler/1', 1);
  await store.commit(commit);
  expect(await open(store).claim()).toMatchObject({ isReadable: false });
});

test('a failed commit leaves everything to the next one', async () => {
  const store = new MemoryStore();
  const other = open(store, { formatVersion: 2 });
  await other.claim();
  await other.commit(at(1), [entry]);
  const scope = open(store);
  await scope.claim();
  scope.discard();
  const commit = store.commit.bind(store);
  store.commit = () => Promise.reject(new Error('unreachable'));
  await expect(scope.commit(at(2), [])).rejects.toThrow('unreachable');
  store.commit = commit;
  await scope.commit(at(2), []);
  expect(await open(store).claim()).toMatchObject({ isReadable: true, entries: [] });
});
