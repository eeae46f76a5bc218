import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigOfAll } from '@sluice/fake-apiserver';
import { exactDuration } from '@sluice/platform/process';
import { answeringMs, outageMs, repeatOutages } from './recurring-outage.ts';
import {
  activityText,
  type Demo,
  type SimulationOptions,
  seedOf,
  startSimulatedServer,
  storyCommands,
} from './simulated-server.ts';
import { outdatedObjects } from './simulator/outdated-objects.ts';
import { sampleObjects } from './simulator/sample-objects.ts';

export interface SimulatedClusters {
  /** Path of a file with a context per cluster. */
  readonly kubeconfig: string;
  readonly about: readonly string[];
  readonly demo: Demo;
  /** Stops activity and outages. */
  pause(): void;
  close(): Promise<void>;
}

/**
 * Starts several simulated clusters with the same namespaces and Services, except that the second is outdated. The API server
 * of the last stops and returns, again and again. The story runs in the first.
 */
export async function startSimulations(count: number, options: SimulationOptions): Promise<SimulatedClusters> {
  const seed = seedOf(options);
  const servers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      // Each simulation uses two seeds.
      startSimulatedServer(seed + 2 * index, {
        ...options,
        objects: index === 1 ? outdatedObjects : sampleObjects,
        hasStory: index === 0,
      }),
    ),
  );
  const [first, last] = [servers.at(0), servers.at(-1)];
  const names = servers.map((_, index) => `cluster-${index + 1}`);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-clusters-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const urls = new Map(servers.map(({ url }, index) => [names[index] ?? '', url]));
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOfAll(urls)), { mode: 0o600 });
  const stopping = new AbortController();
  const failing = names.at(-1) ?? '';
  const outages = repeatOutages(
    {
      ...options,
      cluster: failing,
      stop: async () => last?.http.close(),
      start: async () => last?.http.listen(Number(new URL(last.url).port)),
    },
    stopping.signal,
  );
  const [every, lasts] = [answeringMs, outageMs].map(exactDuration);
  return {
    kubeconfig,
    about: [
      activityText(seed, options.rate, names[0]),
      `${names[1]} lacks two Services of ${names[0]}; ${failing} stops answering every ${every}, for ${lasts}`,
    ],
    demo: {
      commands: ['services', ...storyCommands(names[0])],
      kubectl: [`kubectl --kubeconfig ${kubeconfig} --context ${names[0]} get endpointslices -A --watch`],
      happening() {
        const what = first?.happening() ?? '';
        return what === '' ? '' : `${names[0]}: ${what}`;
      },
    },
    pause() {
      stopping.abort();
      for (const { pause } of servers) pause();
    },
    async close() {
      stopping.abort();
      await outages;
      await Promise.all(servers.map(({ http }) => http.close()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
