import { describe, expect, it } from 'vitest';
import { populate } from './populate.ts';
import { newServer } from './testing/fixtures.ts';

describe('populate', () => {
  it('creates Services with ready Pods on Nodes in three zones', () => {
    const { server } = newServer();
    const population = populate(server, { services: 4, podsPerService: 3, namespaces: 2, nodes: 3 });
    expect([server.count('services'), server.count('pods'), server.count('nodes')]).toEqual([4, 12, 3]);
    expect(population.services[3]).toEqual({ namespace: 'bench-1', name: 'svc-00003' });
    const { namespace, name } = population.pod(3, 2);
    expect(server.get('pods', namespace, name)).toMatchObject({
      metadata: { labels: { app: 'svc-00003' } },
      status: { podIP: '11.0.0.11', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    server.put('pods', population.podObject(3, 2, false));
    expect(server.get('pods', namespace, name)).toMatchObject({ status: { conditions: [{ status: 'False' }] } });
  });
});
