import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { loadKubeconfigText } from '@sluice/kubernetes';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { MemoryDocument } from '@sluice/store';
import { expect, test } from 'vitest';
import { kubeconfigText } from '../testing/kubeconfig-text.ts';
import { acceptCluster } from './accept-cluster.ts';
import { StoredIdentities } from './identity-registry.ts';

const ports = { clock: systemClock, random: seededRandom(1), logger: silentLogger };

test('pins the name to what answers at its address', async () => {
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  const http = new ApiServerHttp({ server, clock: systemClock });
  const url = await http.listen();
  const text = kubeconfigText({ server: url });
  const candidate = {
    name: 'a',
    from: 'a.yaml',
    fingerprint: '',
    load: () => loadKubeconfigText({ source: '', text }),
  };
  const sources = [{ about: 'test', read: async () => ({ candidates: [candidate], problems: [] }) }];
  const identities = new StoredIdentities(new MemoryDocument());
  try {
    const previous = { identity: 'uid-of-the-previous-cluster', server: url, authorities: [] };
    const current = { ...previous, identity: server.identity };
    await identities.admit('a', previous);
    expect(await identities.admit('a', current)).toContain('conflict');
    expect(await identities.conflicts()).toHaveLength(1);
    expect(await acceptCluster('a', sources, identities, ports)).toEqual(current);
    expect(await identities.conflicts()).toEqual([]);
    expect(await identities.admit('a', current)).toBeUndefined();
    await expect(acceptCluster('b', sources, identities, ports)).rejects.toThrow('cluster b not found');
  } finally {
    await http.close();
  }
});
