import { MemoryDocument } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { StoredIdentities } from './identity-registry.ts';
import type { ClusterEvidence } from './pinned-clusters.ts';

let pins: MemoryDocument;
let reads: number;
let replacements: number;
let identities: StoredIdentities;

beforeEach(() => {
  pins = new MemoryDocument();
  [reads, replacements] = [0, 0];
  identities = new StoredIdentities({
    read: () => {
      reads += 1;
      return pins.read();
    },
    replace: (expected, next) => {
      replacements += 1;
      return pins.replace(expected, next);
    },
  });
});

const evidence = (uid: string): ClusterEvidence => ({ identity: uid, server: `https://${uid}`, authorities: [] });

test('verifies any number of clusters with one read of the pins, and writes nothing while they match', async () => {
  const served = new Map(Array.from({ length: 50 }, (_, i) => [`c${i}`, evidence(`uid-${i}`)]));
  for (const [name, found] of served) await identities.admit(name, found);
  [reads, replacements] = [0, 0];
  expect(await identities.verify(served)).toEqual(new Map());
  expect([reads, replacements]).toEqual([1, 0]);
});

test('pins any number of clusters that connect at the same time with few reads and writes', async () => {
  const admitted = Array.from({ length: 300 }, (_, i) => identities.admit(`c${i}`, evidence(`uid-${i}`)));
  const same = identities.admit('impostor', { ...evidence('uid-7'), server: 'https://elsewhere' });
  expect(new Set(await Promise.all(admitted))).toEqual(new Set([undefined]));
  expect(await same).toContain('cluster identity conflict');
  expect(JSON.stringify(await pins.read())).toContain('https://uid-299');
  expect(reads).toBeLessThanOrEqual(3);
  expect(replacements).toBeLessThanOrEqual(3);
});

test('a change that cannot be stored is refused, and a later one stored', async () => {
  const read = pins.read.bind(pins);
  pins.read = () => Promise.reject(new Error('no answer'));
  await expect(Promise.all(['a', 'b'].map((name) => identities.admit(name, evidence(name))))).rejects.toThrow(
    'no answer',
  );
  pins.read = read;
  expect(await identities.admit('a', evidence('a'))).toBeUndefined();
  expect(await pins.read()).toContain('https://a');
});

test('reports only the clusters in conflict', async () => {
  for (const name of ['a', 'b', 'c']) await identities.admit(name, evidence(name));
  await identities.admit('impostor', { ...evidence('b'), server: 'https://elsewhere' });
  const served = new Map(['a', 'b', 'c'].map((name) => [name, evidence(name)]));
  const refusals = await identities.verify(served);
  expect([...refusals.keys()]).toEqual(['b']);
  expect(refusals.get('b')).toContain('cluster identity conflict of impostor');
});

test('pins again what a wiped store has forgotten', async () => {
  expect(await identities.verify(new Map([['a', evidence('a')]]))).toEqual(new Map());
  expect(await pins.read()).toContain('https://a');
});

test('decides again if another process changed the pins meanwhile', async () => {
  const read = pins.read.bind(pins);
  let raced = false;
  pins.read = async () => {
    const before = await read();
    if (raced) return before;
    raced = true;
    await new StoredIdentities({ read, replace: pins.replace.bind(pins) }).admit('a', evidence('other'));
    return before;
  };
  expect([...(await identities.verify(new Map([['a', evidence('a')]]))).keys()]).toEqual(['a']);
});

test('what a process read before an operator decided does not open the conflict again', async () => {
  await identities.admit('prod', evidence('old'));
  await identities.accept('prod', evidence('new'));
  const served = new Map([['prod', evidence('old')]]);
  expect((await identities.verify(served)).get('prod')).toContain('pinned to new');
  expect(await identities.conflicts()).toEqual([]);
  expect(await identities.admit('prod', evidence('new'))).toBeUndefined();
});
