import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlane, type ServerProcess, startControlPlane } from '@sluice/local';
import { ApiClient } from './api-client.ts';
import { Observer } from './observer.ts';
import { populate } from './populate.ts';
import type { Shape } from './shape.ts';

export interface SceneOptions {
  readonly directory: string;
  readonly shape: Shape;
  /** Longest wait for what was to be seen and is not, in seconds. */
  readonly patienceSeconds: number;
  /** etcd waits for the disk. */
  readonly fsync: boolean;
  readonly say: (line: string) => void;
}

/** A control plane with Services and ready Pods in it, and the bench's own eyes. */
export interface Scene {
  readonly options: SceneOptions;
  readonly controlPlane: ControlPlane;
  readonly client: ApiClient;
  readonly observer: Observer;
}

/** After so long without an event everything is written. */
const QUIET_MILLISECONDS = 1000;

/** Does something on a scene of its own, which ends with it. */
export async function onScene<T>(options: SceneOptions, act: (scene: Scene) => Promise<T>): Promise<T> {
  const { directory, fsync, shape } = options;
  const controlPlane = await startControlPlane({ directory, name: 'bench', authorization: 'AlwaysAllow', fsync });
  const client = new ApiClient(controlPlane.adminKubeconfig);
  let observer: Observer | undefined;
  try {
    await populate(client, shape);
    observer = await Observer.open(client, shape);
    return await act({ options, controlPlane, client, observer });
  } finally {
    observer?.close();
    client.close();
    await controlPlane.stop();
  }
}

/** Waits until it is so and no event comes any more. Returns false when it is not so in time. */
export async function settled(
  { options, observer }: Scene,
  peer: ServerProcess,
  reached: () => boolean,
): Promise<boolean> {
  const deadline = performance.now() + options.patienceSeconds * 1000;
  const start = performance.now();
  const quiet = () => performance.now() - Math.max(start, observer.lastEventAt) > QUIET_MILLISECONDS;
  while (performance.now() < deadline && !(reached() && quiet())) {
    await sleep(20);
    observer.check();
    if (!peer.running) throw new Error(`${peer.name} ended while it was measured\n${endOfLog(peer)}`);
  }
  return reached();
}

/** The last words of a server; stack traces may be long. */
export function endOfLog({ command }: ServerProcess): string {
  const lines = readFileSync(command.log, 'utf8').trimEnd().split('\n').slice(-8);
  return `  ${lines.map((line) => line.slice(0, 400)).join('\n  ')}\nwhole log: ${command.log}`;
}
