import { type Clock, type Logger, sleep, untilNextTick } from '@sluice/platform';
import { type ClusterDirectory, unidentified } from '@sluice/store';
import type { ClusterState } from './cluster.ts';
import { outageOf } from './cluster-outages.ts';

interface Options {
  readonly directory: ClusterDirectory;
  readonly states: () => readonly ClusterState[];
  /** What the source is that lists the name. Default: unknown. */
  readonly sourceOf?: (name: string) => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const periodMs = 2_000;

/**
 * Publishes clusters that have not answered since this process started, so that the console shows them. An entry is
 * removed once the cluster is connected, and when `signal` aborts.
 */
export async function publishUnidentified(options: Options, signal: AbortSignal): Promise<void> {
  const { directory, states, sourceOf, clock, logger } = options;
  const published = new Set<string>();
  const cleared = new Set<string>();
  const update = async (current: readonly ClusterState[]) => {
    const missing = current.filter(({ identity, since }) => identity === '' && since !== undefined);
    for (const state of missing) {
      const { name } = state;
      const outage = outageOf(state);
      if (published.has(name) || outage === null) continue;
      const source = sourceOf?.(name);
      const known = { identity: unidentified(name), name, version: '', server: '', outage };
      await directory.put({ ...known, ...(source !== undefined && { source }) });
      published.add(name);
      cleared.delete(name);
    }
    // Also those that a crashed process left.
    const connected = current.filter(({ identity, name }) => identity !== '' && !cleared.has(name));
    for (const name of [...published]
      .filter((name) => !missing.some((state) => state.name === name))
      .concat(connected.map(({ name }) => name))) {
      await directory.remove(unidentified(name));
      published.delete(name);
      cleared.add(name);
    }
  };
  while (!signal.aborted) {
    await update(states()).catch((error: unknown) => logger.debug('cannot publish unavailable clusters', { error }));
    await sleep(clock, untilNextTick(clock, periodMs), signal);
  }
  await update([]).catch(() => {});
}
