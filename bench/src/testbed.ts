import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlane, type ServerProcess, startControlPlane } from '@sluice/local';
import { ApiClient } from './api-client.ts';
import { EndpointWatches } from './endpoint-watches.ts';
import { populate } from './populate.ts';
import type { Shape } from './shape.ts';

export interface TestbedOptions {
  readonly directory: string;
  readonly shape: Shape;
  /** Maximum wait for expected events, in seconds. */
  readonly timeoutSeconds: number;
  /** etcd with fsync. */
  readonly fsync: boolean;
  readonly say: (line: string) => void;
}

/** A control plane with Services and ready Pods, and the bench's watches of it. */
export interface Testbed {
  readonly options: TestbedOptions;
  readonly controlPlane: ControlPlane;
  readonly client: ApiClient;
  readonly watches: EndpointWatches;
}

/** Everything is written after this much time without an event. */
const QUIET_MILLISECONDS = 1000;

/** Runs `work` on a new control plane that is stopped afterwards. */
export async function withTestbed<T>(options: TestbedOptions, run: (testbed: Testbed) => Promise<T>): Promise<T> {
  const { directory, fsync, shape } = options;
  const controlPlane = await startControlPlane({ directory, name: 'bench', authorization: 'AlwaysAllow', fsync });
  const client = new ApiClient(controlPlane.adminKubeconfig);
  let watches: EndpointWatches | undefined;
  try {
    await populate(client, shape);
    watches = await EndpointWatches.open(client, shape);
    return await run({ options, controlPlane, client, watches });
  } finally {
    watches?.close();
    client.close();
    await controlPlane.stop();
  }
}

/** Waits until the condition holds and events have stopped. Returns false on timeout. */
export async function converged(
  { options, watches }: Testbed,
  peer: ServerProcess,
  reached: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = performance.now() + options.timeoutSeconds * 1000;
  const start = performance.now();
  const quiet = () => performance.now() - Math.max(start, watches.lastEventAt) > QUIET_MILLISECONDS;
  while (performance.now() < deadline && !((await reached()) && quiet())) {
    await sleep(20);
    watches.check();
    if (!peer.running) throw new Error(`${peer.name} exited during the measurement\n${endOfLog(peer)}`);
  }
  return reached();
}

/** The end of a server's log; lines are truncated, as stack traces may be long. */
export function endOfLog({ command }: ServerProcess): string {
  const lines = readFileSync(command.log, 'utf8').trimEnd().split('\n').slice(-8);
  return `  ${lines.map((line) => line.slice(0, 400)).join('\n  ')}\nwhole log: ${command.log}`;
}
