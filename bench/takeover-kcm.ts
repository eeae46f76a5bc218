/**
 * Measures how long Services wait when the active one of two kube-controller-managers is killed, for comparison with
 * `bench/takeover.ts`. See `--help`.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ControlPlane,
  ensureBinaries,
  KUBERNETES_VERSION,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { integer, say } from '@sluice/program';
import { ApiClient } from './src/api-client.ts';
import { EndpointWatches } from './src/endpoint-watches.ts';
import { writeStatus } from './src/load.ts';
import { populate } from './src/populate.ts';
import { runBench } from './src/run-bench.ts';
import { type BenchPod, benchPods } from './src/shape.ts';
import { percentile } from './src/statistics.ts';
import { number } from './src/table.ts';

const shape = { services: 10, pods: 10 };
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const timeoutMs = 120_000;

async function measure(directory: string, repetitions: number): Promise<readonly number[]> {
  const controlPlane = await startControlPlane({
    directory: join(directory, 'cluster'),
    name: 'bench',
    authorization: 'AlwaysAllow',
  });
  const client = new ApiClient(controlPlane.adminKubeconfig);
  const running: ServerProcess[] = [];
  let watches: EndpointWatches | undefined;
  try {
    await populate(client, shape);
    watches = await EndpointWatches.open(client, shape);
    running.push(await startReplica(controlPlane));
    await until(async () => (await holder(client)) !== '');
    const [pod] = benchPods(shape);
    if (pod === undefined) throw new Error('no Pods');
    await shown(client, watches, pod, false);
    const gaps: number[] = [];
    for (let ready = true; gaps.length < repetitions; ready = !ready) {
      running.push(await startReplica(controlPlane));
      // Until the new one waits for the lease.
      await sleep(4_000);
      const active = running.shift();
      const killedAt = performance.now();
      await active?.kill();
      gaps.push((await shown(client, watches, pod, ready)) - killedAt);
      say(`  take-over ${gaps.length}: ${((gaps.at(-1) ?? 0) / 1000).toFixed(1)} s`);
    }
    return gaps;
  } finally {
    watches?.close();
    await Promise.all(running.map((one) => one.kill()));
    client.close();
    await controlPlane.stop();
  }
}

const startReplica = (controlPlane: ControlPlane): Promise<ServerProcess> =>
  startKubeControllerManager(controlPlane, { args: ['--leader-elect=true'] });

async function holder(client: ApiClient): Promise<string> {
  const answer = await client.get(lease).catch(() => undefined);
  return answer === undefined ? '' : (JSON.parse(answer.body).spec?.holderIdentity ?? '');
}

/** Writes the Pod's status; returns when a slice shows it. */
async function shown(client: ApiClient, watches: EndpointWatches, pod: BenchPod, ready: boolean): Promise<number> {
  let seenAt: number | undefined;
  watches.listener = ({ from, deleted, pods }, at) => {
    if (deleted || from !== 'slice') return;
    if (pods.some((one) => one.name === pod.name && one.ready === ready)) seenAt ??= at;
  };
  await writeStatus(client, { pod, ready });
  await until(() => seenAt !== undefined);
  return seenAt ?? Number.NaN;
}

async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await reached())) {
    if (performance.now() > deadline) throw new Error('no take-over');
    await sleep(20);
  }
}

await runBench({
  name: 'takeover-kcm',
  about: `Starts a real API server and two kube-controller-managers with leader election and the default lease. Kills the active
one, changes a Pod, and measures the time from the kill to the watch event of the EndpointSlice that shows the change.
Then starts a new one and repeats.
`,
  options: { repetitions: integer(5, 'take-overs') },
  async measure({ repetitions }, directory) {
    await ensureBinaries(say);
    const gaps = await measure(directory, repetitions);
    const at = (share: number) => number(percentile(gaps, share) / 1000);
    return {
      tables: [
        {
          title: 'The active kube-controller-manager is killed',
          head: ['', 'take-overs', 'p50 s', 'min s', 'max s'],
          rows: [{ cells: ['default lease', String(gaps.length), at(0.5), at(0), at(1)] }],
        },
      ],
      conditions: `Kubernetes ${KUBERNETES_VERSION}, `,
      json: { gapsMs: gaps },
    };
  },
});
