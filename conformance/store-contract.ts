import type { Commit, OutboxEntry, Store } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** The contract of the store port. Every adapter runs it with a factory of its own. */
export function storeContract(name: string, create: () => Promise<Store>): void {
  describe(`store contract: ${name}`, () => {
    test('a scope that nobody wrote is empty', async () => {
      const store = await create();
      expect(await store.load('reconciler/1')).toEqual({ checkpoint: 0, entries: [], outbox: [] });
    });

    test('a commit is there as a whole: fields, checkpoint and outbox', async () => {
      const store = await create();
      const entries = [
        { key: 'c/ns/a', field: 'service', value: { name: 'a' } },
        { key: 'c/ns/b', field: 'pod/x', value: { ready: true } },
      ];
      await store.commit(commit({ checkpoint: 7, entries, publish: [outboxEntry('p1')] }));
      const state = await store.load('reconciler/1');
      expect(state.checkpoint).toBe(7);
      expect(state.entries).toEqual(expect.arrayContaining(entries));
      expect(state.outbox).toEqual([outboxEntry('p1')]);
    });

    test('later fields replace earlier ones, undefined removes, published entries leave the outbox', async () => {
      const store = await create();
      const field = (value: unknown) => ({ key: 'c/ns/a', field: 'service', value });
      await store.commit(
        commit({ checkpoint: 1, entries: [field(1)], publish: [outboxEntry('p1'), outboxEntry('p2')] }),
      );
      await store.commit(commit({ expected: 1, checkpoint: 2, entries: [field(2)], published: ['p1'] }));
      expect(await store.load('reconciler/1')).toEqual({
        checkpoint: 2,
        entries: [field(2)],
        outbox: [outboxEntry('p2')],
      });
      await store.commit(commit({ expected: 2, checkpoint: 3, entries: [field(undefined)] }));
      expect((await store.load('reconciler/1')).entries).toEqual([]);
    });

    test('an owner whose epoch is over changes nothing', async () => {
      const store = await create();
      await store.commit(commit({ epoch: 2, checkpoint: 1 }));
      const late = commit({ epoch: 1, expected: 1, checkpoint: 2, publish: [outboxEntry('late')] });
      await expect(store.commit(late)).rejects.toMatchObject({ code: 'FENCED' });
      expect(await store.load('reconciler/1')).toEqual({ checkpoint: 1, entries: [], outbox: [] });
    });

    test('an owner that believes in another checkpoint changes nothing', async () => {
      const store = await create();
      await store.commit(commit({ checkpoint: 5 }));
      const stale = commit({ expected: 4, checkpoint: 6, entries: [{ key: 'k', field: 'f', value: 1 }] });
      await expect(store.commit(stale)).rejects.toMatchObject({ code: 'FENCED' });
      expect(await store.load('reconciler/1')).toEqual({ checkpoint: 5, entries: [], outbox: [] });
    });

    test('scopes are apart from each other', async () => {
      const store = await create();
      await store.commit(commit({ checkpoint: 5 }));
      expect((await store.load('writer/1')).checkpoint).toBe(0);
    });
  });
}

function commit(part: Partial<Commit>): Commit {
  return {
    scope: 'reconciler/1',
    epoch: 1,
    expected: 0,
    checkpoint: 0,
    entries: [],
    publish: [],
    published: [],
    ...part,
  };
}

function outboxEntry(id: string): OutboxEntry {
  return { id, key: 'c/ns/a', headers: {}, payload: new TextEncoder().encode(id) };
}
