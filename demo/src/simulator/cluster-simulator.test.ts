import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { describe, expect, it } from 'vitest';
import { type ClusterActivity, describeActivity } from './activity.ts';
import { ClusterSimulator } from './cluster-simulator.ts';
import { outdatedObjects } from './outdated-objects.ts';

function newSimulator(seed: number, rate?: number) {
  const clock = new VirtualClock(Date.parse('2026-05-01T10:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const simulator = new ClusterSimulator({
    api: server,
    clock,
    random: seededRandom(seed),
    ...(rate === undefined ? {} : { rate }),
  });
  const activities: ClusterActivity[] = [];
  simulator.onActivity((activity) => activities.push(activity));
  simulator.start();
  const run = (seconds: number) => {
    const until = clock.now() + seconds * 1000;
    while (clock.step(until));
  };
  const pods = () => server.list('pods').items;
  const ready = () => pods().filter((pod) => isReady(pod));
  return { server, clock, simulator, activities, run, pods, ready };
}

type Pod = Readonly<Record<string, unknown>>;

function isReady(pod: Pod): boolean {
  const { conditions = [] } = (pod.status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

const ipsOf = (pod: Pod) => ((pod.status as { podIPs?: { ip: string }[] }).podIPs ?? []).map(({ ip }) => ip);
const seeds = [1, 2, 3, 4, 5];

describe('ClusterSimulator', () => {
  it('starts converged, with three zones, ready Pods and Services of all kinds', () => {
    const { server, simulator, pods, ready, activities } = newSimulator(1);
    expect(simulator.converged).toBe(true);
    expect(ready()).toHaveLength(pods().length);
    expect(pods().length).toBeGreaterThan(35);
    const zones = server.list('nodes').items.map((node) => node.metadata.labels?.['topology.kubernetes.io/zone']);
    expect(new Set(zones).size).toBe(3);
    expect(server.get('services', 'payments', 'ledger-db')).toMatchObject({ spec: { clusterIPs: ['None'] } });
    expect(server.get('services', 'shop', 'catalog')).toMatchObject({ spec: { ipFamilies: ['IPv4', 'IPv6'] } });
    expect(server.get('pods', 'payments', 'ledger-db-0')).toMatchObject({ spec: { hostname: 'ledger-db-0' } });
    expect(activities).toEqual([]);
  });

  it('runs objects that differ from those of other clusters', () => {
    const { server, clock } = newSimulator(1);
    const outdated = new FakeApiServer({ clock, random: seededRandom(2) });
    new ClusterSimulator({ api: outdated, clock, random: seededRandom(2), objects: outdatedObjects }).start();
    const names = (of: FakeApiServer) => of.list('services').items.map(({ metadata }) => metadata.name);
    expect(names(server).filter((name) => !names(outdated).includes(name))).toEqual(['otel-collector', 'search']);
    const portsOf = (of: FakeApiServer) => of.get('services', 'payments', 'payments-api').spec;
    expect(portsOf(server)).toMatchObject({ ports: [{ port: 443 }] });
    expect(portsOf(outdated)).toMatchObject({ ports: [{ port: 8443 }] });
    expect(outdated.list('pods').items.filter(({ metadata }) => metadata.name.startsWith('search'))).toEqual([]);
  });

  it.each(seeds)('keeps addresses unique and Pods on existing Nodes (seed %i)', (seed) => {
    const { server, run, pods, activities } = newSimulator(seed);
    for (let second = 0; second < 60; second++) {
      run(1);
      const ips = pods().flatMap(ipsOf);
      expect(new Set(ips).size, `seed ${seed}: duplicate address`).toBe(ips.length);
      const nodes = new Set(server.list('nodes').items.map((node) => node.metadata.name));
      for (const pod of pods()) {
        const { nodeName } = pod.spec as { nodeName?: string };
        if (nodeName !== undefined) expect(nodes, `seed ${seed}: ${pod.metadata.name}`).toContain(nodeName);
        if (isReady(pod)) expect(ipsOf(pod), `seed ${seed}: ${pod.metadata.name}`).toHaveLength(2);
      }
    }
    expect(activities.length / 60, `seed ${seed}`).toBeGreaterThan(3);
    expect(activities.length / 60, `seed ${seed}`).toBeLessThan(8);
    expect(new Set(activities.map((activity) => activity.kind)).size).toBeGreaterThan(2);
  });

  it.each(seeds)('converges when paused (seed %i)', (seed) => {
    const { simulator, run, ready, pods, server } = newSimulator(seed, 20);
    run(120);
    simulator.pause();
    run(120);
    expect(simulator.converged, `seed ${seed}`).toBe(true);
    expect(ready()).toHaveLength(pods().length);
    const names = server.list('services').items.map((service) => service.metadata.name);
    expect(names.filter((name) => name.startsWith('storefront-pr-'))).toEqual([]);
  });

  it('is deterministic for a seed', () => {
    const describeMinute = (seed: number) => {
      const { run, activities } = newSimulator(seed);
      run(60);
      return activities.map((activity) => `${activity.at} ${describeActivity(activity)}`);
    };
    const first = describeMinute(7);
    expect(describeMinute(7)).toEqual(first);
    expect(describeMinute(8)).not.toEqual(first);
  });

  it('runs every scenario within ten minutes', () => {
    const { run, activities } = newSimulator(1, 20);
    run(600);
    const text = activities.map(describeActivity).join('\n');
    for (const pattern of [
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
      expect(text).toMatch(pattern);
  });

  it('replaces Pods that users delete and runs Pods that users create', () => {
    const { server, run, simulator, pods } = newSimulator(1, 0);
    const count = pods().length;
    const [deleted, vanished] = pods().filter((pod) => pod.metadata.name.startsWith('cart-'));
    server.delete('pods', 'shop', deleted?.metadata.name ?? '');
    server.delete('pods', 'shop', vanished?.metadata.name ?? '', { gracePeriodSeconds: 0 });
    server.create('pods', { metadata: { name: 'mine', namespace: 'default' }, spec: { containers: [{ name: 'c' }] } });
    run(30);
    expect(simulator.converged).toBe(true);
    expect(pods()).toHaveLength(count + 1);
    expect(isReady(server.get('pods', 'default', 'mine'))).toBe(true);
    expect(() => server.get('pods', 'shop', deleted?.metadata.name ?? '')).toThrow('not found');
  });

  it('stops', () => {
    const { run, simulator, activities, clock } = newSimulator(1);
    run(5);
    simulator.stop();
    const before = activities.length;
    run(60);
    expect(activities).toHaveLength(before);
    expect(clock.nextAt()).toBeUndefined();
  });
});
