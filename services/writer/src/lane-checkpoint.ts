import { type Delivery, type PartitionReader, type StreamOffset, streamStart } from '@sluice/bus';
import type { PlanId } from '@sluice/messages';
import type { DonePlans } from './done-plans.ts';
import type { LaneWorkerOptions } from './lane-worker-options.ts';

interface Finished {
  /** Of the record. */
  readonly id: string;
  readonly plan: PlanId | undefined;
}

type Options = Pick<LaneWorkerOptions, 'bus' | 'store' | 'partition' | 'epoch' | 'logger' | 'onCheckpoint'>;

/**
 * How far a lane is done with, in the store: the last offset up to which nothing waits any more, however many after it
 * are done already.
 */
export class LaneCheckpoint {
  readonly #options: Options;
  readonly #scope: string;
  readonly #done: DonePlans;
  readonly #onFailure: (error: unknown) => void;
  readonly #finished = new Map<number, Finished>();
  /** Positions that the checkpoint has not passed, in order. */
  readonly #ahead = new Set<number>();
  /** Up to here nobody knows what was applied. */
  #doubtfulUpTo = 0;
  /** Up to here a former owner may have applied what it could not tell any more. */
  #inheritedUpTo = 0;
  #cursor: StreamOffset = streamStart;
  #reader: PartitionReader | undefined;
  #committing: Promise<void> | undefined;

  /** `onFailure` is told when a commit fails. */
  constructor(options: Options, done: DonePlans, onFailure: (error: unknown) => void) {
    this.#options = options;
    this.#scope = `writer/${options.partition}`;
    this.#done = done;
    this.#onFailure = onFailure;
  }

  get cursor(): StreamOffset {
    return this.#cursor;
  }

  /** Whether the plan there may have been applied, without the store knowing. */
  isDoubtful(offset: number): boolean {
    return offset <= this.#doubtfulUpTo;
  }

  /** Whether a former owner may have applied the plan there as its last deed. */
  isInherited(offset: number): boolean {
    return offset <= this.#inheritedUpTo;
  }

  /** Takes up what the owners before have left. */
  async restore(): Promise<void> {
    const { bus, partition, store, epoch, logger } = this.#options;
    const [state, end] = await Promise.all([store.claim(this.#scope, epoch), bus.end('mutations', partition)]);
    this.#done.load(state.entries);
    this.#reach(state.checkpoint ?? streamStart);
    if (state.checkpoint === null) return this.skip('the store knows nothing of it');
    this.#inheritedUpTo = end.offset;
    if (state.intact) return;
    this.#doubtfulUpTo = end.offset;
    logger.warn('the store may have lost what was applied; plans up to the end of the lane are decided anew', {
      plans: end.offset - this.#cursor.offset,
    });
  }

  /** Goes on at the end of the lane. Reconcilers ask again for the Outcomes of the plans that are passed over. */
  async skip(reason: string): Promise<void> {
    const { bus, partition, store, epoch: fencingToken, logger } = this.#options;
    const end = await bus.end('mutations', partition);
    logger.warn('going on at the end of the lane', { reason });
    const expectedOffset = this.#cursor.offset;
    await store.commit({ scope: this.#scope, fencingToken, expectedOffset, checkpoint: end, entries: [] });
    this.#reach(end);
    // What comes now was decided after the loss; in a lane that is made anew, its offsets may be low.
    this.#doubtfulUpTo = 0;
    this.#inheritedUpTo = 0;
  }

  /** What comes next is read from here. */
  follow(reader: PartitionReader): void {
    this.#reader = reader;
  }

  /** A record was read. */
  begin(offset: number): void {
    this.#ahead.add(offset);
  }

  /** It needs nothing more: the checkpoint goes on as far as there is no gap. */
  finish({ offset, id }: Delivery, plan: PlanId | undefined): void {
    this.#finished.set(offset, { id, plan });
    this.#committing ??= this.#commit()
      .catch((error: unknown) => this.#onFailure(error))
      .finally(() => {
        this.#committing = undefined;
      });
  }

  isFinished(offset: number): boolean {
    return this.#finished.has(offset);
  }

  /** Once what is being stored is stored: what was read and not passed is forgotten, to be read again. */
  async rest(): Promise<void> {
    await this.#committing;
    this.#finished.clear();
    this.#ahead.clear();
  }

  #reach(cursor: StreamOffset): void {
    this.#cursor = cursor;
    this.#options.onCheckpoint?.(cursor.offset, this.#options.partition);
  }

  async #commit(): Promise<void> {
    // Whatever else finishes in this turn goes into the same commit.
    await Promise.resolve();
    for (;;) {
      const done = this.#leading();
      const last = done.at(-1);
      if (last === undefined || last[0] <= this.#cursor.offset) return;
      // The first commit makes the store's state intact again; until then a successor must doubt the same plans.
      if (last[0] < this.#doubtfulUpTo) return;
      const checkpoint = { offset: last[0], id: last[1].id, streamId: this.#reader?.streamId ?? '' };
      const { store, epoch: fencingToken } = this.#options;
      const entries = this.#done.pass(done.flatMap(([, { plan }]) => plan ?? []));
      await store.commit({
        scope: this.#scope,
        fencingToken,
        expectedOffset: this.#cursor.offset,
        checkpoint,
        entries,
      });
      this.#reach(checkpoint);
      this.#reader?.release(checkpoint.offset);
      for (const [offset] of done) {
        this.#finished.delete(offset);
        this.#ahead.delete(offset);
      }
    }
  }

  /** Those that are done with up to the first that is not. A plan for a cluster that is away may hold up many others. */
  #leading(): readonly (readonly [number, Finished])[] {
    const done: [number, Finished][] = [];
    for (const offset of this.#ahead) {
      const finished = this.#finished.get(offset);
      if (finished === undefined) break;
      done.push([offset, finished]);
    }
    return done;
  }
}
