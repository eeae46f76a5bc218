import { type Clock, type Logger, sleep } from '@sluice/runtime';
import { type ClusterDirectory, isUnidentified } from '@sluice/store';

interface Options {
  readonly directory: Pick<ClusterDirectory, 'list'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of reading the names. It is short at first, when a new fleet's watchers publish them. */
const [periodMs, startupPeriodMs, startupMs] = [2_000, 250, 30_000] as const;

/**
 * Names of the fleet's clusters by identity, as its watchers publish them: a reconciler is configured without clusters, and
 * a writer may get plans for a cluster that only others serve.
 */
export class PublishedNames {
  readonly #options: Options;
  readonly #names = new Map<string, string>();

  constructor(options: Options) {
    this.#options = options;
  }

  get(identity: string): string | undefined {
    return this.#names.get(identity);
  }

  /** Reads the names once. If that fails, it keeps those from before. */
  async read(): Promise<void> {
    const { directory, logger } = this.#options;
    try {
      for (const { identity, name } of await directory.list())
        if (!isUnidentified(identity)) this.#names.set(identity, name);
    } catch (error) {
      logger.debug('cannot read the names of the clusters', { error });
    }
  }

  /** Reads the names periodically until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const startedUpAt = clock.monotonic() + startupMs;
    while (!signal.aborted) {
      await this.read();
      await sleep(clock, clock.monotonic() < startedUpAt ? startupPeriodMs : periodMs, signal);
    }
  }
}
