import { type Delivery, type PartitionReader, type StreamOffset, streamStart } from '@sluice/bus';
import type { PlanId } from '@sluice/messages';
import { type Cancel, untilTick } from '@sluice/runtime';
import { ScopeFormat, type StoredEntry } from '@sluice/store';
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
  readonly #scope: string;
  readonly #fence: PlanFence;
  readonly #onFailure: (error: unknown) => void;
  readonly #finished = new Map<number, FinishedPlan>();
  /** Offsets read but not yet committed, in ascending order. */
  readonly #pending = new Set<number>();
  /** Up to this offset the store may have lost which plans were applied. */
  #unknownUpTo = 0;
  /** Up to this offset a previous owner may have applied plans without reporting them. */
  #inheritedUpTo = 0;
  #committed: StreamOffset = streamStart;
  readonly #format = new ScopeFormat(formatVersion);
  #removals: readonly StoredEntry[] = [];
  #reader: PartitionReader | undefined;
  #committing: Promise<void> | undefined;
  /** The entries of a failed commit may be missing in the store, so that no later one may succeed without them. */
  #hasFailed = false;
  /** Cancels the commit that is due later. */
  #cancel: Cancel | undefined;

  /** `onFailure` is called when a commit fails. */
  constructor(options: Options, fence: PlanFence, onFailure: (error: unknown) => void) {
    this.#options = options;
    this.#scope = `writer/${options.partition}`;
    this.#fence = fence;
    this.#onFailure = onFailure;
  }

  get committed(): StreamOffset {
    return this.#committed;
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
    const { bus, partition, store, fencingToken, logger } = this.#options;
    const state = await store.claim(this.#scope, fencingToken);
    const isReadable = this.#load(state.entries);
    this.#moveTo(state.checkpoint ?? streamStart);
    if (state.checkpoint === null) {
      logger.debug('no committed offset; starting at the end of the plan partition');
      return this.skipToEnd();
    }
    // After the claim: by then a previous owner may have applied everything up to it.
    const end = await bus.end('mutations', partition);
    this.#inheritedUpTo = end.offset;
    if (state.intact && isReadable) return;
    // Reachable: store may have lost applied plans
    this.#unknownUpTo = end.offset;
    logger.warn('store may have lost applied plans; returning pending plans to the reconciler', {
      plans: end.offset - this.#committed.offset,
    });
  }

  /**
   * Continues at the end of the partition. Reconcilers publish a skipped plan again if its Outcome does not
   * arrive.
   */
  async skipToEnd(): Promise<void> {
    const { bus, partition, store, fencingToken } = this.#options;
    const end = await bus.end('mutations', partition);
    const expectedOffset = this.#committed.offset;
    await store.commit({
      scope: this.#scope,
      fencingToken,
      expectedOffset,
      checkpoint: end,
      entries: this.#drainEntries([]),
    });
    this.#moveTo(end);
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

  /** Returns false, and has the next commit remove the entries, if they are unreadable. */
  #load(entries: readonly StoredEntry[]): boolean {
    const readable = this.#format.read(entries);
    if (readable !== undefined && this.#fence.load(readable)) return true;
    // Reachable: stored progress of a writer unreadable
    this.#options.logger.warn('stored state unreadable', { scope: this.#scope, formatVersion });
    // The version of the format stays if it is that of this program.
    this.#removals = (readable ?? entries).map(({ key, field }) => ({ key, field, value: undefined }));
    return false;
  }

  #drainEntries(changed: readonly StoredEntry[]): readonly StoredEntry[] {
    const entries = this.#format.mark([...this.#removals, ...changed]);
    this.#removals = [];
    return entries;
  }

  #moveTo(committed: StreamOffset): void {
    this.#committed = committed;
    this.#options.onCheckpoint?.(committed.offset, this.#options.partition);
  }

  async #commit(): Promise<void> {
    // Yield once, so that records finishing in the same tick share a commit.
    await Promise.resolve();
    for (;;) {
      const done = this.#leading();
      const last = done.at(-1);
      if (last === undefined || last[0] <= this.#committed.offset) return;
      // A commit marks the state in the store as intact. Before all doubtful plans are finished, a new owner must see
      // them as doubtful too.
      if (last[0] < this.#unknownUpTo) {
        // Reachable: commit waits for plans that may have been applied
        return;
      }
      const checkpoint = { offset: last[0], id: last[1].id, streamId: this.#reader?.streamId ?? '' };
      const { store, fencingToken } = this.#options;
      const entries = this.#drainEntries(this.#fence.advance(done.flatMap(([, { plan }]) => plan ?? [])));
      await store.commit({
        scope: this.#scope,
        fencingToken,
        expectedOffset: this.#committed.offset,
        checkpoint,
        entries,
      });
      this.#moveTo(checkpoint);
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
