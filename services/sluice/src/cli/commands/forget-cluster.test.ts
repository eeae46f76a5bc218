import { MemoryBus, streamStart } from '@sluice/bus';
import { type ClusterSource, StoredIdentities } from '@sluice/fleet/clusters';
import { decodeMessage } from '@sluice/messages';
import { sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryClusterDirectory, MemoryDocument, MemoryLeases, MemoryStore, unidentified } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { readStoredClusters } from '../../composition/stored-clusters.ts';
import { forgetCluster } from './forget-cluster.ts';

const scope = 'watcher/uid-west';
const checkpoint = { offset: 0, id: '', streamId: 'memory' };
const evidence = (name: string) => ({ identity: `uid-${name}`, server: `https://${name}`, authorities: ['ca'] });
let fleet: Parameters<typeof forgetCluster>[1]['fleet'] & { readonly store: MemoryStore; readonly bus: MemoryBus };
let clock: VirtualClock;

/** A fleet has stored the clusters `east` and `west`. */
beforeEach(async () => {
  clock = new VirtualClock(1_000);
  const store = new MemoryStore();
  const directory = new MemoryClusterDirectory();
  const clusterPins = new MemoryDocument();
  fleet = { store, directory, clusterPins, bus: new MemoryBus({ partitions: 2 }), leases: new MemoryLeases(clock) };
  for (const name of ['east', 'west']) {
    await directory.put({ identity: `uid-${name}`, name, version: '', server: '' });
    await new StoredIdentities(clusterPins).admit(name, evidence(name));
  }
  await store.claim(scope, 1);
  const entries = [{ key: 'uid-west/shop/web', field: 'digest', value: 'x' }];
  await store.commit({ scope, fencingToken: 1, expectedOffset: 0, checkpoint, entries });
});

const listing = (...names: string[]): ClusterSource => ({
  about: 'a directory',
  read: async () => ({ candidates: names.map((name) => ({ name }) as never), problems: [] }),
});

const forget = (name: string, { sources = [listing('east')], dryRun = false } = {}) =>
  forgetCluster(name, { sources, fleet, member: 'cli', dryRun, clock });

async function left() {
  const announced = await fleet.bus.end('changes', 0);
  const names = (await readStoredClusters(fleet)).map(({ name }) => name);
  return { names, entries: fleet.store.peek(scope).entries.length, announced: announced.offset };
}

test('state, pin and entry of a cluster are removed, and every reconciler hears of it', async () => {
  await fleet.directory.put({ identity: unidentified('west'), name: 'west', version: '', server: '' });
  expect(await forget('west')).toEqual({ name: 'west', identities: ['uid-west'], pinned: true });
  expect(await left()).toEqual({ names: ['east'], entries: 0, announced: 1 });
  const [record] = await fleet.bus.read('changes', 1, streamStart).next(1);
  expect(record && decodeMessage(record.payload)).toMatchObject({ kind: 'clusterRemoved', cluster: 'uid-west' });
  expect((await fleet.leases.state('watcher')).members).toEqual([]);
});

test('the name may be given to another cluster afterwards', async () => {
  const identities = new StoredIdentities(fleet.clusterPins);
  const other = { ...evidence('other'), server: 'https://west' };
  await forget('west');
  expect(await identities.admit('west', other)).toBeUndefined();
});

test('a dry run changes nothing', async () => {
  const before = await left();
  expect(await forget('west', { dryRun: true })).toEqual({ name: 'west', identities: ['uid-west'], pinned: true });
  expect(await left()).toEqual(before);
});

test.each([
  ['it is configured', [listing('east', 'west')], 'west', 'cluster west is configured'],
  ['nothing is stored of it', [], 'north', 'cluster north is not stored'],
])('a cluster is not forgotten if %s', async (_, sources, name, message) => {
  const before = await left();
  await expect(forget(name, { sources })).rejects.toThrow(message);
  expect(await left()).toEqual(before);
});

test('a cluster is not forgotten if a source that may list it cannot be read', async () => {
  const read = () => Promise.reject(new Error('permission denied'));
  await expect(forget('west', { sources: [{ about: 'a directory', read }] })).rejects.toThrow(
    'cannot read a directory: permission denied',
  );
});

test('a cluster is not forgotten while a process with another configuration watches it', async () => {
  const watch = { group: 'watcher', member: 'b', ttlMs: 900, release: [], acquire: ['uid-west'] };
  await fleet.leases.heartbeat(watch);
  const before = await left();
  await expect(forget('west')).rejects.toThrow('cluster west is watched by b');
  expect(await left()).toEqual(before);
});

test('a cluster stays listed if removing its state outlasts the lease, so that another process may watch it', async () => {
  const append = fleet.bus.append.bind(fleet.bus);
  fleet.bus.append = async (topic, partition, records) => {
    await sleep(clock, 10_000);
    return append(topic, partition, records);
  };
  const forgetting = expect(forget('west')).rejects.toThrow('took longer than 15 s; try again');
  await advance(clock, 25_000);
  await forgetting;
  expect(await left()).toMatchObject({ names: ['east', 'west'] });
});

test('of a cluster with two names only the name is forgotten', async () => {
  const identities = new StoredIdentities(fleet.clusterPins);
  expect(await identities.admit('alias', evidence('west'))).toBeUndefined();
  expect(await forget('alias')).toEqual({ name: 'alias', identities: [], pinned: true });
  expect(await left()).toMatchObject({ names: ['east', 'west'], entries: 1, announced: 0 });
});
