import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { describe, expect, it } from 'vitest';
import { type ClusterActivity, describeActivity } from './activity.ts';
import { ClusterSimulator } from './cluster-simulator.ts';

function newWorld(seed: number, rate?: number) {
  const clock = new VirtualClock(Date.parse('2026-05-01T10:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const world = new ClusterSimulator({
    api: server,
    clock,
    random: seededRandom(seed),
    ...(rate === undefined ? {} : { rate }),
  });
  const actions: ClusterActivity[] = [];
  world.onActivity((action) => actions.push(action));
  world.start();
  const run = (seconds: number) => {
    const until = clock.now() + seconds * 1000;
    while (clock.step(until));
  };
  const pods = () => server.list('pods').items;
  const ready = () => pods().filter((pod) => isReady(pod));
  return { server, clock, world, actions, run, pods, ready };
}

type Pod = Readonly<Record<string, unknown>>;

function isReady(pod: Pod): boolean {
  const { conditions = [] } = (pod.status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

const ipsOf = (pod: Pod) => ((pod.status as { podIPs?: { ip: string }[] }).podIPs ?? []).map(({ ip }) => ip);
const seeds = [1, 2, 3, 4, 5];

describe('ClusterSimulator', () => {
  it('starts settled: 3 zones, every Pod ready, Services of all kinds', () => {
    const { server, world, pods, ready, actions } = newWorld(1);
    expect(world.converged).toBe(true);
    expect(ready()).toHaveLength(pods().length);
    expect(pods().length).toBeGreaterThan(35);
    const zones = server.list('nodes').items.map((node) => node.metadata.labels?.['topology.kubernetes.io/zone']);
    expect(new Set(zones).size).toBe(3);
    expect(server.get('services', 'payments', 'ledger-db')).toMatchObject({ spec: { clusterIPs: ['None'] } });
    expect(server.get('services', 'shop', 'catalog')).toMatchObject({ spec: { ipFamilies: ['IPv4', 'IPv6'] } });
    expect(server.get('pods', 'payments', 'ledger-db-0')).toMatchObject({ spec: { hostname: 'ledger-db-0' } });
    expect(actions).toEqual([]);
  });

  it.each(seeds)('keeps its invariants for a minute (seed %i)', (seed) => {
    const { server, run, pods, actions } = newWorld(seed);
    for (let second = 0; second < 60; second++) {
      run(1);
      const ips = pods().flatMap(ipsOf);
      expect(new Set(ips).size, `seed ${seed}: an address is used twice`).toBe(ips.length);
      const nodes = new Set(server.list('nodes').items.map((node) => node.metadata.name));
      for (const pod of pods()) {
        const { nodeName } = pod.spec as { nodeName?: string };
        if (nodeName !== undefined) expect(nodes, `seed ${seed}: ${pod.metadata.name}`).toContain(nodeName);
        if (isReady(pod)) expect(ipsOf(pod), `seed ${seed}: ${pod.metadata.name}`).toHaveLength(2);
      }
    }
    expect(actions.length / 60, `seed ${seed}`).toBeGreaterThan(3);
    expect(actions.length / 60, `seed ${seed}`).toBeLessThan(8);
    expect(new Set(actions.map((action) => action.kind)).size).toBeGreaterThan(2);
  });

  it.each(seeds)('comes to rest as declared when nothing new happens (seed %i)', (seed) => {
    const { world, run, ready, pods, server } = newWorld(seed, 20);
    run(120);
    world.pause();
    run(120);
    expect(world.converged, `seed ${seed}`).toBe(true);
    expect(ready()).toHaveLength(pods().length);
    const names = server.list('services').items.map((service) => service.metadata.name);
    expect(names.filter((name) => name.startsWith('storefront-pr-'))).toEqual([]);
  });

  it('does the same for the same seed, and something else for another', () => {
    const told = (seed: number) => {
      const { run, actions } = newWorld(seed);
      run(60);
      return actions.map((action) => `${action.at} ${describeActivity(action)}`);
    };
    const first = told(7);
    expect(told(7)).toEqual(first);
    expect(told(8)).not.toEqual(first);
  });

  it('has everything happen sooner or later', () => {
    const { run, actions } = newWorld(1, 20);
    run(600);
    const told = actions.map(describeActivity).join('\n');
    for (const text of [
      /^Pod shop\/\S+ was created$/m,
      /^Pod \S+ started on worker-\w-\w{4} with address 10\.244\.\d+\.\d+, not ready yet$/m,
      /^Pod \S+ became ready$/m,
      /^Pod \S+ is terminating$/m,
      /^Pod \S+ is gone$/m,
      /^Pod \S+ failed its readiness probe and is not ready$/m,
      /^Pod payments\/ledger-db-\d is evicted/m,
      /^Deployment \S+ rolls out version \S+ \(was \S+\)$/m,
      /^StatefulSet payments\/ledger-db rolls out/m,
      /^Deployment \S+ is scaled from \d+ to \d+ replicas$/m,
      /^Endpoints payments\/card-gateway list 203\.0\.113\.\d+ as well$/m,
      /^Endpoints payments\/card-gateway no longer list /m,
      /^Service shop\/storefront-pr-\d+ was created$/m,
      /^Service shop\/storefront-pr-\d+ was deleted$/m,
      /^Service \S+ got the label release=r\d+$/m,
      /^Node \S+ stopped responding and is NotReady$/m,
      /^Node \S+ is Ready again$/m,
      /^Node \S+ was removed from the cluster$/m,
      /^Node \S+ joined in zone /m,
    ])
      expect(told).toMatch(text);
  });

  it('puts right what people do to its Pods, and runs Pods that they create', () => {
    const { server, run, world, pods } = newWorld(1, 0);
    const count = pods().length;
    const [deleted, vanished] = pods().filter((pod) => pod.metadata.name.startsWith('cart-'));
    server.delete('pods', 'shop', deleted?.metadata.name ?? '');
    server.delete('pods', 'shop', vanished?.metadata.name ?? '', { gracePeriodSeconds: 0 });
    server.create('pods', { metadata: { name: 'mine', namespace: 'default' }, spec: { containers: [{ name: 'c' }] } });
    run(30);
    expect(world.converged).toBe(true);
    expect(pods()).toHaveLength(count + 1);
    expect(isReady(server.get('pods', 'default', 'mine'))).toBe(true);
    expect(() => server.get('pods', 'shop', deleted?.metadata.name ?? '')).toThrow('not found');
  });

  it('stops', () => {
    const { run, world, actions, clock } = newWorld(1);
    run(5);
    world.stop();
    const told = actions.length;
    run(60);
    expect(actions).toHaveLength(told);
    expect(clock.nextAt()).toBeUndefined();
  });
});
