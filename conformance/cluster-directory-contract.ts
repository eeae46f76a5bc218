import type { ClusterDirectory } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** The contract of the directory of a fleet's clusters. Every adapter runs it. */
export function clusterDirectoryContract(name: string, create: () => Promise<ClusterDirectory>): void {
  describe(`cluster directory contract: ${name}`, () => {
    const cluster = (identity: string, given: string) => ({
      identity,
      name: given,
      version: 'v1.36.3',
      server: 'https://c',
    });

    test('is empty initially and lists clusters by identity', async () => {
      const directory = await create();
      expect(await directory.list()).toEqual([]);
      await directory.put(cluster('b', 'staging'));
      await directory.put(cluster('a', 'production'));
      expect(await directory.list()).toEqual([cluster('a', 'production'), cluster('b', 'staging')]);
    });

    test('replaces an entry with the same identity', async () => {
      const directory = await create();
      await directory.put(cluster('a', 'old'));
      await directory.put(cluster('a', 'new'));
      expect(await directory.list()).toEqual([cluster('a', 'new')]);
    });

    test('keeps the outage of a cluster until the entry is replaced without one', async () => {
      const directory = await create();
      const outage = { since: 1_000, reason: 'connection refused' };
      await directory.put({ ...cluster('a', 'west'), outage });
      expect(await directory.list()).toEqual([{ ...cluster('a', 'west'), outage }]);
      await directory.put(cluster('a', 'west'));
      expect(await directory.list()).toEqual([cluster('a', 'west')]);
    });

    test('says why writes to a cluster are paused until they are not, whatever else is written', async () => {
      const directory = await create();
      await directory.put(cluster('a', 'west'));
      expect(await directory.setPaused('a', 'another controller writes')).toBe(true);
      await directory.put(cluster('a', 'new'));
      expect(await directory.list()).toEqual([{ ...cluster('a', 'new'), paused: 'another controller writes' }]);
      await directory.setPaused('a', undefined);
      await directory.setPaused('a', undefined);
      expect(await directory.list()).toEqual([cluster('a', 'new')]);
      await directory.setPaused('a', 'again');
      await directory.remove('a');
      await directory.put(cluster('a', 'new'));
      expect(await directory.list()).toEqual([cluster('a', 'new')]);
    });

    test('keeps nothing of pauses of clusters that are not listed', async () => {
      const directory = await create();
      expect(await directory.setPaused('a', 'another controller writes')).toBe(false);
      expect(await directory.setPaused('a', undefined)).toBe(true);
      await directory.put(cluster('a', 'west'));
      expect(await directory.list()).toEqual([cluster('a', 'west')]);
    });

    test('removes entries; removing an unknown one has no effect; a removed one can be added again', async () => {
      const directory = await create();
      await directory.put(cluster('a', 'production'));
      await directory.put(cluster('b', 'staging'));
      await directory.remove('a');
      await directory.remove('c');
      expect(await directory.list()).toEqual([cluster('b', 'staging')]);
      await directory.put(cluster('a', 'again'));
      expect(await directory.list()).toEqual([cluster('a', 'again'), cluster('b', 'staging')]);
    });
  });
}
