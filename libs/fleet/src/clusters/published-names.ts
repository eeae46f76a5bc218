import { type Clock, type Logger, sleep, untilNextTick } from '@sluice/platform';
import { type ClusterDirectory, isUnidentified } from '@sluice/store';

interface Options {
  readonly directory: Pick<ClusterDirectory, 'list'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of reading the names. It is short at first, when a new fleet's watchers publish them. */
const [periodMs, startupPeriodMs, startupMs] = [2_000, 250, 30_000] as const;
/** How long `learn` waits for a name and how often it reads; after it waited in vain, it waits for no other name for a while. */
const [learnMs, learnPeriodMs, unlearnedMs] = [1_000, 50, 30_000] as const;

/**
 * Names of the fleet's clusters by identity, as its watchers publish them: a reconciler is configured without clusters, and
 * a writer may get plans for a cluster that only others serve.
 */
export class PublishedNames {
  readonly #options: Options;
  readonly #names = new Map<string, string>();
  #learning: Promise<void> | undefined;
  #learnsFrom = Number.NEGATIVE_INFINITY;
  /** Identities that `learn` has waited for in vain. It does not wait for them again: no cluster delays others for long. */
  readonly #unpublished = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  get(identity: string): string | undefined {
    return this.#names.get(identity);
  }

  /**
   * Waits a moment for the names of new clusters. A watcher publishes the name of its cluster and the first Changes at the
   * same time, and a counter keeps the label of its first increment.
   */
  async learn(identities: ReadonlySet<string>): Promise<void> {
    const { clock } = this.#options;
    const missing = () => [...identities].filter((one) => !this.#names.has(one) && !this.#unpublished.has(one));
    const isKnown = () => missing().length === 0;
    if (isKnown() || clock.monotonic() < this.#learnsFrom) return;
    const until = clock.monotonic() + learnMs;
    for (;;) {
      this.#learning ??= this.read().finally(() => (this.#learning = undefined));
      await Promise.race([this.#learning, sleep(clock, learnMs)]);
      if (isKnown()) return;
      if (clock.monotonic() >= until) break;
      await sleep(clock, learnPeriodMs);
    }
    for (const identity of missing()) this.#unpublished.add(identity);
    this.#learnsFrom = clock.monotonic() + unlearnedMs;
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
      await sleep(clock, untilNextTick(clock, clock.monotonic() < startedUpAt ? startupPeriodMs : periodMs), signal);
    }
  }
}
