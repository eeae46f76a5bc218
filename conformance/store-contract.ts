import type { Checkpoint, Commit, ScopeState, Store } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** The contract of the store port. Every adapter runs it; each call of `create` returns an empty store. */
export function storeContract(name: string, create: () => Promise<Store>): void {
  describe(`store contract: ${name}`, () => {
    test('a new scope is empty', async () => {
      const store = await create();
      const { checkpoint, entries } = await store.claim('reconciler/1', 1);
      expect(checkpoint?.offset ?? 0).toBe(0);
      expect(entries).toEqual([]);
    });

    test('a commit stores fields and checkpoint together', async () => {
      const store = await create();
      const entries = [
        { key: 'c/ns/a', field: 'service', value: { name: 'a' } },
        { key: 'c/ns/b', field: 'pod/x', value: { ready: true } },
      ];
      await store.commit(commit({ checkpoint: at(7), entries }));
      const state = await store.claim('reconciler/1', 2);
      expect(state.checkpoint).toEqual(at(7));
      expect(state.intact).toBe(true);
      expect(state.entries).toEqual(expect.arrayContaining(entries));
    });

    test('later fields replace earlier ones; undefined removes a field', async () => {
      const store = await create();
      const field = (value: unknown) => ({ key: 'c/ns/a', field: 'service', value });
      await store.commit(commit({ entries: [field(1)] }));
      await store.commit(commit({ expectedOffset: 1, checkpoint: at(2), entries: [field(2)] }));
      expect(held(await store.claim('reconciler/1', 1))).toEqual({ offset: 2, entries: [field(2)] });
      await store.commit(commit({ expectedOffset: 2, checkpoint: at(3), entries: [field(undefined)] }));
      expect((await store.claim('reconciler/1', 1)).entries).toEqual([]);
    });

    test('a key without fields is removed, also when removing fields that never existed', async () => {
      const store = await create();
      const fields = (value: unknown) => ['a', 'b'].map((field) => ({ key: 'c/ns/a', field, value }));
      const other = { key: 'c/ns/b', field: 'a', value: 1 };
      await store.commit(commit({ entries: [...fields(1), other] }));
      const entries = [...fields(undefined), { key: 'c/ns/a', field: 'never', value: undefined }];
      await store.commit(commit({ expectedOffset: 1, checkpoint: at(2), entries }));
      expect((await store.claim('reconciler/1', 1)).entries).toEqual([other]);
    });

    test('find returns the fields with a prefix in one scope without affecting its owner', async () => {
      const store = await create();
      const field = (key: string, field: string) => ({ key, field, value: { of: key } });
      const entries = [
        field('c/ns/a', 'controller/x'),
        field('c/ns/b', 'controller/[y]*'),
        field('c/ns/controller/', 'other'),
        field('c/ns/a', 'service'),
      ];
      await store.commit(commit({ entries }));
      const found = await store.find('reconciler/1', 'controller/');
      expect(found).toHaveLength(2);
      expect(found).toEqual(expect.arrayContaining(entries.slice(0, 2)));
      expect(await store.find('reconciler/1', 'controller/[y]*')).toEqual([entries[1]]);
      expect(await store.find('reconciler/1', 'controller/?')).toEqual([]);
      expect(await store.find('reconciler/2', 'controller/')).toEqual([]);
      await store.commit(commit({ expectedOffset: 1, checkpoint: at(2) }));
    });

    test('preserves arbitrary keys, fields and values', async () => {
      const store = await create();
      const entries = [
        {
          key: 'c/ns/a',
          field: 'pod/"quoted" {x} \u0000\n',
          value: { text: 'ü€😀\u0000', list: [], none: null, zero: 0 },
        },
        { key: 'c/ns/a b', field: 'f', value: [] },
        { key: 'c/ns/a', field: 'b f', value: {} },
      ];
      await store.commit(commit({ entries }));
      const state = await store.claim('reconciler/1', 1);
      expect([...state.entries].sort(byField)).toEqual([...entries].sort(byField));
    });

    test('returns all entries of a large scope', async () => {
      const store = await create();
      const entries = Array.from({ length: 5000 }, (_, i) => ({ key: `c/ns/s${i % 7}`, field: `pod/${i}`, value: i }));
      await store.commit(commit({ entries }));
      const state = await store.claim('reconciler/1', 1);
      expect(new Set(state.entries.map(({ value }) => value)).size).toBe(5000);
    });

    test('a claim fences the former owner, even before the first commit', async () => {
      const store = await create();
      await store.claim('reconciler/1', 1);
      await store.commit(commit({}));
      await store.claim('reconciler/1', 2);
      await expect(store.commit(commit({ expectedOffset: 1, checkpoint: at(2) }))).rejects.toMatchObject({
        code: 'FENCED',
      });
      await expect(store.claim('reconciler/1', 1)).rejects.toMatchObject({ code: 'FENCED' });
      await store.commit(commit({ fencingToken: 2, expectedOffset: 1, checkpoint: at(2) }));
    });

    test('a commit with an old fencing token changes nothing', async () => {
      const store = await create();
      await store.commit(commit({ fencingToken: 2 }));
      const late = commit({
        fencingToken: 1,
        expectedOffset: 1,
        checkpoint: at(2),
        entries: [{ key: 'k', field: 'late', value: 1 }],
      });
      await expect(store.commit(late)).rejects.toMatchObject({ code: 'FENCED' });
      expect(held(await store.claim('reconciler/1', 2))).toEqual({ offset: 1, entries: [] });
    });

    test('a commit with a wrong expected offset changes nothing', async () => {
      const store = await create();
      await store.commit(commit({ checkpoint: at(5) }));
      const entries = [{ key: 'k', field: 'f', value: 1 }];
      const stale = commit({ expectedOffset: 4, checkpoint: at(6), entries });
      await expect(store.commit(stale)).rejects.toMatchObject({ code: 'FENCED' });
      expect(held(await store.claim('reconciler/1', 1))).toEqual({ offset: 5, entries: [] });
    });

    test('of two concurrent commits from the same checkpoint, one succeeds', async () => {
      const store = await create();
      const both = await Promise.allSettled([
        store.commit(commit({ entries: [{ key: 'k', field: 'a', value: 1 }] })),
        store.commit(commit({ entries: [{ key: 'k', field: 'b', value: 2 }] })),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await store.claim('reconciler/1', 1)).entries).toHaveLength(1);
    });

    test('scopes are independent', async () => {
      const store = await create();
      await store.commit(commit({ entries: [{ key: 'k', field: 'f', value: 1 }] }));
      await store.commit(commit({ scope: 'reconciler/11', entries: [{ key: 'k', field: 'f', value: 11 }] }));
      expect((await store.claim('writer/1', 1)).entries).toEqual([]);
      expect((await store.claim('reconciler/1', 1)).entries).toEqual([{ key: 'k', field: 'f', value: 1 }]);
    });

    test('reading the checkpoint shows the progress of the owner and fences nobody', async () => {
      const store = await create();
      expect((await store.checkpoint('reconciler/1'))?.offset ?? 0).toBe(0);
      await store.commit(commit({ checkpoint: at(7) }));
      expect(await store.checkpoint('reconciler/1')).toEqual(at(7));
      await store.commit(commit({ expectedOffset: 7, checkpoint: at(8) }));
      expect(await store.checkpoint('reconciler/1')).toEqual(at(8));
      expect((await store.checkpoint('reconciler/2'))?.offset ?? 0).toBe(0);
    });

    test('setIfAbsent keeps the first value', async () => {
      const store = await create();
      expect(await store.setIfAbsent('partitions', '64')).toBe('64');
      expect(await store.setIfAbsent('partitions', '32')).toBe('64');
      expect(await store.setIfAbsent('other', '1')).toBe('1');
    });
  });
}

function at(offset: number): Checkpoint {
  return { offset, id: `record ${offset}`, streamId: 'log' };
}

function commit(part: Partial<Commit>): Commit {
  return {
    scope: 'reconciler/1',
    fencingToken: 1,
    expectedOffset: 0,
    checkpoint: at(1),
    entries: [],
    ...part,
  };
}

function held({ checkpoint, entries }: ScopeState) {
  return { offset: checkpoint?.offset ?? 0, entries };
}

const byField = (a: { field: string; key: string }, b: { field: string; key: string }) =>
  a.field.localeCompare(b.field) || a.key.localeCompare(b.key);
