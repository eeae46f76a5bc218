import { type Clock, type Logger, sleep, untilNextTick } from '@sluice/platform';
import type { ClusterDirectory } from '@sluice/store';
import type { ClusterState } from './cluster.ts';

interface Options {
  readonly directory: Pick<ClusterDirectory, 'setPaused'>;
  readonly states: () => readonly ClusterState[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const periodMs = 2_000;

/**
 * Publishes to which clusters this process has paused writes, so that the console shows it, until `signal` aborts. The
 * entry stays when the process ends, because no process writes then either, until one writes again.
 */
export async function publishPauses({ directory, states, clock, logger }: Options, signal: AbortSignal): Promise<void> {
  const published = new Map<string, string | undefined>();
  const update = async () => {
    const current = states();
    const identities = new Set(current.map(({ identity }) => identity));
    for (const known of published.keys()) if (!identities.has(known)) published.delete(known);
    for (const { identity, phase, reason } of current) {
      if (phase !== 'paused' && phase !== 'serving') continue;
      const paused = phase === 'paused' ? reason : undefined;
      if (published.has(identity) && published.get(identity) === paused) continue;
      if (await directory.setPaused(identity, paused)) published.set(identity, paused);
    }
  };
  while (!signal.aborted) {
    await update().catch((error: unknown) => logger.debug('cannot publish paused writes', { error }));
    await sleep(clock, untilNextTick(clock, periodMs), signal);
  }
}
