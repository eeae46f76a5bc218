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
  /** Maximum wait for expected events, in seconds. */
  readonly patienceSeconds: number;
  /** etcd with fsync. */
  readonly fsync: boolean;
  readonly say: (line: string) => void;
}

/** A control plane with Services and ready Pods, and the bench's watches of it. */
export interface Scene {
  readonly options: SceneOptions;
  readonly controlPlane: ControlPlane;
  readonly client: ApiClient;
  readonly observer: Observer;
}

/** Everything is written after this much time without an event. */
const QUIET_MILLISECONDS = 1000;

/** Runs `work` on a new control plane that is stopped afterwards. */
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

/** Waits until the condition holds and events have stopped. Returns false on timeout. */
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
    if (!peer.running) throw new Error(`${peer.name} exited during the measurement\n${endOfLog(peer)}`);
  }
  return reached();
}

/** The end of a server's log; lines are truncated, as stack traces may be long. */
export function endOfLog({ command }: ServerProcess): string {
  const lines = readFileSync(command.log, 'utf8').trimEnd().split('\n').slice(-8);
  return `  ${lines.map((line) => line.slice(0, 400)).join('\n  ')}\nwhole log: ${command.log}`;
}
