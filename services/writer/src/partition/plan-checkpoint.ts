import type { Delivery, PartitionReader, StreamOffset } from '@sluice/bus';
import type { PlanId } from '@sluice/messages';
import { type Cancel, untilTick } from '@sluice/platform';
import { OwnedScope } from '@sluice/store';
import type { PlanFence } from '../fencing/plan-fence.ts';
import type { PlanPartitionWorkerOptions } from './plan-partition-worker-options.ts';

/** Finished plans that are committed without further delay. */
const plansPerCommit = 128;

/** Raise it with every change that another version of the writer would misread. */
const formatVersion = 1;

interface FinishedPlan {
  /** ID of the record. */
  readonly id: string;
  readonly plan: PlanId | undefined;
}

type Options = Pick<
  PlanPartitionWorkerOptions,
  'bus' | 'store' | 'partition' | 'fencingToken' | 'clock' | 'logger' | 'commitIntervalMs' | 'onCheckpoint'
>;

/**
 * The committed offset of a plan partition: every plan up to it has an Outcome on the bus. Plans after it may finish in
 * any order.
 */
export class PlanCheckpoint {
  readonly #options: Options;
  readonly #scope: OwnedScope;
  readonly #fence: PlanFence;
  readonly #onFailure: (error: unknown) => void;
  readonly #finished = new Map<number, FinishedPlan>();
  /** Offsets read but not yet committed, in ascending order. */
  readonly #pending = new Set<number>();
  /** Up to this offset the store may have lost which plans were applied. */
  #unknownUpTo = 0;
  /** Up to this offset a previous owner may have applied plans without reporting them. */
  #inheritedUpTo = 0;
  #reader: PartitionReader | undefined;
  #committing: Promise<void> | undefined;
  /** The entries of a failed commit may be missing in the store, so that no later one may succeed without them. */
  #hasFailed = false;
  /** Cancels the commit that is due later. */
  #cancel: Cancel | undefined;

  /** `onFailure` is called when a commit fails. */
  constructor(options: Options, fence: PlanFence, onFailure: (error: unknown) => void) {
    this.#options = options;
    const { store, fencingToken } = options;
    this.#scope = new OwnedScope({ store, scope: `writer/${options.partition}`, fencingToken, formatVersion });
    this.#fence = fence;
    this.#onFailure = onFailure;
  }

  get committed(): StreamOffset {
    return this.#scope.checkpoint;
  }

  /** Whether the plan at this offset may have been applied without the store knowing. */
  mayHaveBeenApplied(offset: number): boolean {
    return offset <= this.#unknownUpTo;
  }

  /** Whether the plan at this offset was published before this process took over the partition. */
  isInherited(offset: number): boolean {
    return offset <= this.#inheritedUpTo;
  }

  /** Claims the partition in the store and loads the progress of previous owners. */
  async restore(): Promise<void> {
    const { bus, partition, logger } = this.#options;
    const { isNew, intact, entries, isReadable } = await this.#scope.claim();
    const isLoaded = isReadable && this.#fence.load(entries);
    if (!isLoaded) {
      // Reachable: stored progress of a writer unreadable
      logger.warn('stored state unreadable', { scope: this.#scope.name, formatVersion });
      this.#scope.discard();
    }
    this.#report();
    if (isNew) {
      logger.debug('no committed offset; starting at the end of the plan partition');
      return this.skipToEnd();
    }
    // After the claim: by then a previous owner may have applied everything up to it.
    const end = await bus.end('mutations', partition);
    this.#inheritedUpTo = end.offset;
    if (intact && isLoaded) return;
    // Reachable: store may have lost applied plans
    this.#unknownUpTo = end.offset;
    logger.warn('store may have lost applied plans; returning pending plans to the reconciler', {
      plans: end.offset - this.committed.offset,
    });
  }

  /**
   * Continues at the end of the partition. Reconcilers publish a skipped plan again if its Outcome does not
   * arrive.
   */
  async skipToEnd(): Promise<void> {
    const { bus, partition } = this.#options;
    await this.#scope.commit(await bus.end('mutations', partition), []);
    this.#report();
    // Every later plan was decided after the loss. If the stream was recreated, offsets restart, so the old bounds are
    // void.
    this.#unknownUpTo = 0;
    this.#inheritedUpTo = 0;
  }

  /** Sets the reader whose records are released as the checkpoint moves. */
  attach(reader: PartitionReader): void {
    this.#reader = reader;
  }

  /** Call when a record has been read. */
  started(offset: number): void {
    this.#pending.add(offset);
  }

  /** Call when a record needs no more work. Moves the checkpoint up to the first gap, together with what finishes soon. */
  finished({ offset, id }: Delivery, plan: PlanId | undefined): void {
    this.#finished.set(offset, { id, plan });
    const { clock, commitIntervalMs = 0 } = this.#options;
    if (commitIntervalMs === 0 || this.#finished.size >= plansPerCommit) return this.#startCommit();
    this.#cancel ??= clock.schedule(untilTick(clock, commitIntervalMs), () => this.#startCommit());
  }

  #startCommit(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#hasFailed) return;
    this.#committing ??= this.#commit()
      .catch((error: unknown) => {
        this.#hasFailed = true;
        this.#onFailure(error);
      })
      .finally(() => {
        this.#committing = undefined;
      });
  }

  isFinished(offset: number): boolean {
    return this.#finished.has(offset);
  }

  /** Commits what is finished, then drops all other progress, so that those records are read again. */
  async reset(): Promise<void> {
    if (this.#cancel !== undefined) this.#startCommit();
    await this.#committing;
    this.#finished.clear();
    this.#pending.clear();
  }

  #report(): void {
    this.#options.onCheckpoint?.(this.committed.offset, this.#options.partition);
  }

  async #commit(): Promise<void> {
    // Yield once, so that records finishing in the same tick share a commit.
    await Promise.resolve();
    for (;;) {
      const done = this.#leading();
      const last = done.at(-1);
      if (last === undefined || last[0] <= this.committed.offset) return;
      // A commit marks the state in the store as intact. Before all doubtful plans are finished, a new owner must see
      // them as doubtful too.
      if (last[0] < this.#unknownUpTo) {
        // Reachable: commit waits for plans that may have been applied
        return;
      }
      const checkpoint = { offset: last[0], id: last[1].id, streamId: this.#reader?.streamId ?? '' };
      await this.#scope.commit(checkpoint, this.#fence.advance(done.flatMap(([, { plan }]) => plan ?? [])));
      this.#report();
      this.#reader?.release(checkpoint.offset);
      for (const [offset] of done) {
        this.#finished.delete(offset);
        this.#pending.delete(offset);
      }
    }
  }

  /**
   * Finished records up to the first unfinished one. A plan for an unreachable cluster can hold up many finished ones.
   */
  #leading(): readonly (readonly [number, FinishedPlan])[] {
    const done: [number, FinishedPlan][] = [];
    for (const offset of this.#pending) {
      const finished = this.#finished.get(offset);
      if (finished === undefined) break;
      done.push([offset, finished]);
    }
    return done;
  }
}
