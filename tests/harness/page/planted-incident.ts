import { History, RecordingBus } from '@sluice/console';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { RecordConverter, RecordingDirectory } from '@sluice/recording';
import { ClusterWatcher } from '@sluice/watcher';
import { PlantedCluster } from './planted-cluster.ts';

/** Six hours of a small fleet, as `sluice observe` records them: always the same. */
export const incident = {
  from: Date.parse('2026-01-15T09:00:00Z'),
  to: Date.parse('2026-01-15T15:00:00Z'),
  /** When nothing was recorded. */
  gap: { from: Date.parse('2026-01-15T10:40:00Z'), to: Date.parse('2026-01-15T11:10:00Z') },
  /** Where a rollout leaves no Pod ready, and when. */
  rollout: { cluster: 'prod-eu-1', service: 'shop/checkout', at: Date.parse('2026-01-15T14:20:00Z') },
} as const;

const names = ['prod-eu-1', 'prod-eu-2', 'prod-us-1', 'prod-us-2', 'prod-ap-1', 'staging'] as const;
type ClusterName = (typeof names)[number];

const services = {
  ...{ 'shop/frontend': 6, 'shop/cart': 4, 'shop/checkout': 4, 'search/query': 3, 'search/suggest': 2 },
  ...{ 'pay/gateway': 3, 'pay/ledger': 3, 'identity/login': 3 },
};
type ServiceKey = keyof typeof services;

/** Records to a directory that does not exist yet. */
export async function recordIncident(directory: string): Promise<void> {
  const clock = new VirtualClock(incident.from);
  const clusters = names.map((name, i) => new PlantedCluster(name, i + 1, clock));
  for (const cluster of clusters) for (const [key, pods] of Object.entries(services)) cluster.addService(key, pods);
  const { gap, to } = incident;
  const steps = plan((name) => clusters.find((cluster) => cluster.name === name) ?? unknown(name));
  const periods = [
    { to: gap.from, isRecorded: true },
    { to: gap.to, isRecorded: false },
    { to, isRecorded: true },
  ];
  for (const period of periods) {
    const stop = period.isRecorded ? await startRecording(directory, clusters, clock) : undefined;
    for (let next = steps[0]; next !== undefined && next.at < period.to; next = steps[0]) {
      await advance(clock, Math.max(0, next.at - clock.now()));
      next.act();
      steps.shift();
    }
    await advance(clock, period.to - clock.now());
    await stop?.();
  }
}

function unknown(name: string): never {
  throw new Error(`no cluster ${name}`);
}

async function startRecording(
  directory: string,
  clusters: readonly PlantedCluster[],
  clock: VirtualClock,
): Promise<() => Promise<void>> {
  const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
  const recording = new RecordingDirectory(directory, { version: '0.1.0', limits });
  const converter = new RecordConverter(silentLogger);
  const bus = new RecordingBus(new History({ clock }), {
    add(topic, record) {
      const added = converter.convert(topic, record, clock.now());
      if (added !== undefined) recording.append([added], clock.now());
    },
  });
  const stop = new AbortController();
  const running = clusters.map(({ name, identity, reader }, i) => {
    recording.nameCluster(identity, name);
    const ports = { bus, clock, random: seededRandom(i), logger: silentLogger };
    const fencingToken = Math.floor(clock.now());
    return new ClusterWatcher({ ...ports, cluster: identity, fencingToken, reader, recordEachEvent: true }).run(
      stop.signal,
    );
  });
  await advance(clock, 1_000);
  return async () => {
    stop.abort();
    await Promise.all(running);
    await bus.close();
    recording.append([], clock.now());
    recording.close(clock.now(), converter.open);
  };
}

interface Step {
  readonly at: number;
  readonly act: () => void;
}

/** What happens, in the order of time. */
function plan(clusterOf: (name: ClusterName) => PlantedCluster): Step[] {
  const steps: Step[] = [];
  const timeOf = (text: string) => Date.parse(`2026-01-15T${text}${text.length > 5 ? '' : ':00'}Z`);
  const at = (time: number, act: () => void) => steps.push({ at: time, act });
  /** Slices follow in a few milliseconds. */
  const change = (time: number, name: ClusterName, key: ServiceKey, act: (cluster: PlantedCluster) => void) => {
    at(time, () => act(clusterOf(name)));
    at(time + 7, () => clusterOf(name).writeSlice(key));
  };
  /** Pods of a Service are not ready, one after the other. */
  const down = (name: ClusterName, key: ServiceKey, from: string, to: string, waiting?: string) => {
    for (let i = 0; i < services[key]; i++) {
      const set = (ready: boolean) => (cluster: PlantedCluster) =>
        cluster.setPod(key, cluster.podsOf(key)[i] ?? '', ready, ready ? undefined : waiting);
      change(timeOf(from) + i * 400, name, key, set(false));
      change(timeOf(to) + i * 2_300, name, key, set(true));
    }
  };

  // A Node of a whole zone is lost.
  for (const key of ['search/query', 'search/suggest', 'pay/gateway', 'pay/ledger', 'identity/login'] as const)
    down('prod-us-2', key, '11:32', '11:49');
  down('staging', 'shop/checkout', '09:20', '09:52', 'ImagePullBackOff');
  down('staging', 'shop/cart', '12:05', '12:11', 'CrashLoopBackOff');
  down('staging', 'pay/ledger', '13:15', '14:05', 'CrashLoopBackOff');
  down('prod-ap-1', 'search/query', '10:02', '10:09');
  down('prod-eu-2', 'pay/gateway', '13:31', '13:34', 'CrashLoopBackOff');

  // The controllers of prod-us-1 do nothing for some minutes.
  const late = ['shop/frontend', 'shop/cart', 'search/query'] as const;
  for (const [i, key] of late.entries()) {
    at(timeOf('12:12') + i * 9_000, () => {
      const cluster = clusterOf('prod-us-1');
      cluster.setPod(key, cluster.podsOf(key)[0] ?? '', false);
    });
    at(timeOf('12:26') + i * 40, () => clusterOf('prod-us-1').writeSlice(key));
    change(timeOf('12:31'), 'prod-us-1', key, (c) => c.setPod(key, c.podsOf(key)[0] ?? '', true));
  }

  // A rollout whose Pods do not become ready.
  const rollout = incident.rollout.at;
  for (let i = 0; i < services['shop/checkout']; i++) {
    const owner = 'checkout-5f8c66';
    let name = '';
    change(rollout + i * 55_000, 'prod-eu-1', 'shop/checkout', (c) => {
      name = c.addPod('shop/checkout', owner, false);
    });
    change(rollout + i * 55_000 + 21_000, 'prod-eu-1', 'shop/checkout', (c) =>
      c.setPod('shop/checkout', name, false, 'CrashLoopBackOff'),
    );
    change(rollout + i * 55_000 + 34_000, 'prod-eu-1', 'shop/checkout', (c) =>
      c.deletePod('shop/checkout', c.podsOf('shop/checkout')[0] ?? ''),
    );
    change(rollout + 1_140_000 + i * 3_100, 'prod-eu-1', 'shop/checkout', (c) => c.setPod('shop/checkout', name, true));
  }

  // What is still wrong at the end.
  change(timeOf('14:33'), 'prod-eu-1', 'shop/cart', (c) => c.setService('shop/cart', { targetPort: 'https' }));
  change(timeOf('14:41'), 'prod-eu-2', 'search/query', (c) =>
    c.setService('search/query', { selector: { app: 'qeury' } }),
  );
  down('prod-eu-1', 'pay/ledger', '14:52:10', '15:30', 'CrashLoopBackOff');
  at(timeOf('14:58'), () =>
    clusterOf('prod-us-1').setPod('pay/gateway', clusterOf('prod-us-1').podsOf('pay/gateway')[1] ?? '', false),
  );
  for (let i = 0; i < 9; i++) {
    change(timeOf('14:51') + i * 52_000, 'prod-ap-1', 'shop/frontend', (c) =>
      c.setPod('shop/frontend', c.podsOf('shop/frontend')[2] ?? '', i % 2 === 1),
    );
  }
  // Sorting is stable: steps of one time stay in order.
  return steps.sort((a, b) => a.at - b.at);
}
