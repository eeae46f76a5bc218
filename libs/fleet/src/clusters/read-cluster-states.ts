import { aborted, type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import type { StoredIdentities } from '../identity/identity-registry.ts';
import type { ClusterState } from './cluster.ts';
import { ClusterSet } from './cluster-set.ts';
import type { ClusterSource } from './cluster-source.ts';
import { configuredNames, timeoutMs } from './configured-clusters.ts';
import { connectTo } from './connect.ts';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Connects to each cluster of these sources once and returns the resulting states.
 *
 * @throws UsageError which source cannot be read, and why
 */
export async function readClusterStates(
  sources: readonly ClusterSource[],
  ports: Ports,
  identities?: StoredIdentities,
): Promise<readonly ClusterState[]> {
  await configuredNames(sources);
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
