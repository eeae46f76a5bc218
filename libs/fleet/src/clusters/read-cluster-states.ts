import { aborted, type Clock, errorMessage, type Logger, type Random, sleep } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type { IdentityRegistry } from '../identity/identity-registry.ts';
import type { ClusterState } from './cluster.ts';
import { ClusterSet } from './cluster-set.ts';
import type { ClusterSource } from './cluster-source.ts';
import { connectTo } from './connect.ts';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Time limit for sources and clusters to respond, in milliseconds. */
const timeoutMs = 35_000;

/**
 * Connects to each cluster of these sources once and returns the resulting states.
 *
 * @throws UsageError which source cannot be read, and why
 */
export async function readClusterStates(
  sources: readonly ClusterSource[],
  ports: Ports,
  identities?: IdentityRegistry,
): Promise<readonly ClusterState[]> {
  for (const source of sources) {
    await source.read(AbortSignal.timeout(timeoutMs)).catch((error: unknown) => {
      const reason = errorMessage(error);
      throw new UsageError(`cannot read ${source.about}: ${reason}`, { cause: error });
    });
  }
  const stop = new AbortController();
  const set = new ClusterSet({
    ...ports,
    sources,
    identities,
    // `sluice doctor` reports competing controllers.
    open: (access, signal, name) => connectTo(access, { ...ports, name, signal, takeOver: true }),
    serve: (_, signal) => aborted(signal),
  });
  const running = set.run(stop.signal);
  const deadline = ports.clock.monotonic() + timeoutMs;
  while (!set.initialized && ports.clock.monotonic() < deadline) await sleep(ports.clock, 50);
  const { states } = set;
  stop.abort();
  await running;
  return states;
}
