import type { BusRecord } from '@sluice/bus';
import { type Change, parseServiceKey } from '@sluice/messages';
import { sleep } from '@sluice/runtime';
import type { ServiceState } from '@sluice/service-state';
import { awaitsSnapshot, differences, invalidate } from '@sluice/service-state';
import type { PartitionMetrics } from './metrics.ts';
import type { PartitionState } from './partition-state.ts';
import { resyncRequest } from './resync-request.ts';
import { Unheard } from './unheard.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

/** At least, between requests because of what is missing, in milliseconds. */
const askIntervalMs = 1_000;

/** What of a partition's views is wrong, incomplete or known to nobody else, and has the watchers tell it again. */
export class Doubts {
  readonly #options: PartitionWorkerOptions;
  readonly #metrics: PartitionMetrics;
  /** What is missing, if something is, and whose views are in doubt for it. */
  #missed: string | undefined;
  readonly #distrusted = new Set<string>();
  /** Services whose views are not what the watcher knows, by formatted key: what it is that differs. */
  readonly #differing = new Map<string, string>();
  readonly #unheard: Unheard;
  /** When something was last asked for because of what is missing, by the monotonic clock. */
  #lastAsked = Number.NEGATIVE_INFINITY;

  constructor(options: PartitionWorkerOptions, metrics: PartitionMetrics) {
    this.#options = options;
    this.#metrics = metrics;
    this.#unheard = new Unheard(options.unheardMs ?? Number.POSITIVE_INFINITY);
  }

  /** Something was told of the Service, or its view was restored. */
  hear(key: string, now: number): void {
    this.#unheard.hear(key, now);
  }

  /** When something is to be asked for though nothing comes in. */
  get dueAt(): number | undefined {
    const { dueAt } = this.#unheard;
    return dueAt !== undefined && Number.isFinite(dueAt) ? dueAt : undefined;
  }

  /** Changes before this one were lost unread, nobody knows of which Services. */
  miss({ views }: PartitionState, { key: { cluster }, stamp }: Change, now: number): void {
    this.#missed = `Changes before ${stamp.epoch}/${stamp.sequence} of cluster ${cluster} are missing`;
    for (const [key, view] of views) {
      if (view.key.cluster !== cluster) continue;
      invalidate(view, now);
      this.#distrusted.add(key);
    }
  }

  /** What differs from the watcher's digest was lost without a trace, or was folded wrongly. */
  compare(key: string, view: ServiceState, change: Change, now: number): void {
    this.hear(key, now);
    if (awaitsSnapshot(view, change)) this.#differing.set(key, 'no snapshot has come since something was lost');
    const parts = differences(view, change);
    if (parts.length === 0) return;
    this.#metrics.differed(parts);
    invalidate(view, now);
    this.#differing.set(key, `the view differs from the watcher's in ${parts.join(', ')}`);
  }

  /** Of a Service that is dropped nothing is in doubt. */
  drop(key: string): void {
    this.#distrusted.delete(key);
    this.#differing.delete(key);
    this.#unheard.drop(key);
  }

  /**
   * Asks for all that is in doubt, and returns the Services whose views were changed for it. To be awaited before the
   * commit, so that no doubt can be forgotten.
   */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    const changed = [...this.#distrusted];
    await this.#askForMissed(signal);
    await this.#askForDiffering();
    await this.#askForUnheard();
    return changed;
  }

  async #askForMissed(signal: AbortSignal): Promise<void> {
    if (this.#missed === undefined) return;
    const { partition, logger, clock } = this.#options;
    logger.warn('records were lost unread; all Services of the partition are asked for again', {
      reason: this.#missed,
    });
    // Not ever faster, should the answers be lost as well.
    const delayMs = this.#lastAsked + askIntervalMs - clock.monotonic();
    if (delayMs > 0) await sleep(clock, delayMs, signal);
    this.#lastAsked = clock.monotonic();
    await this.#ask(resyncRequest({ partition }, this.#missed, this.#id()));
    this.#distrusted.clear();
    this.#missed = undefined;
  }

  async #askForDiffering(): Promise<void> {
    for (const [key, reason] of this.#differing) {
      this.#options.logger.error('a view is wrong or incomplete; the Service is asked for again', { key, reason });
      await this.#ask(resyncRequest({ key: parseServiceKey(key) }, reason, `${this.#id()}/${key}`));
      this.#differing.delete(key);
    }
  }

  async #askForUnheard(): Promise<void> {
    const { clock, logger } = this.#options;
    const key = this.#unheard.take(clock.now());
    if (key === undefined) return;
    const reason = 'nothing was told of it for longer than a watcher that knows it would be silent';
    logger.info('a Service is asked for that no watcher may know any more', { key });
    await this.#ask(resyncRequest({ key: parseServiceKey(key) }, reason, `${this.#id()}/${key}`));
  }

  async #ask(request: BusRecord): Promise<void> {
    await this.#options.bus.append('requests', 0, [request]);
  }

  #id(): string {
    const { partition, epoch, clock } = this.#options;
    return `${partition}/${epoch}/${clock.now()}`;
  }
}
