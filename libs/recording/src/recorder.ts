import { Worker } from 'node:worker_threads';
import type { BusRecord, Topic } from '@sluice/bus';
import { isServiceKey } from '@sluice/messages';
import type { Cancel, Clock, Logger } from '@sluice/platform';
import type { Propagation } from './propagations.ts';
import { matchesKeys, type PropagationQuery, type RecordedRange, type ServiceQuery } from './queries.ts';
import { RecordConverter } from './record-converter.ts';
import type { RecordingLimits } from './recording-directory.ts';
import { firstOf, type Question, type Recording, type RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';
import { SnapshotSchedule } from './snapshot-schedule.ts';

export interface RecorderOptions {
  readonly directory: string;
  readonly limits: RecordingLimits;
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Until `resume`, records are applied and not written: they are older than the recording. Default: false. */
  readonly isPaused?: boolean;
}

export interface ThreadOptions extends Pick<RecorderOptions, 'directory' | 'limits' | 'version'> {}

export type ThreadRequest =
  | {
      readonly kind: 'append';
      readonly records: readonly NewRecord[];
      readonly now: number;
      readonly afterLoss: boolean;
    }
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly question: Question | 'servicesAt';
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'name'; readonly identity: string; readonly name: string }
  | { readonly kind: 'close'; readonly now: number; readonly open: readonly Propagation[] };

export type ThreadAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'appended'; readonly isNewFile: boolean }
  | { readonly kind: 'answered'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly reason: string; readonly id?: number };

/** Payloads are outside of the heap; the default would grow to hundreds of megabytes before it is collected. */
const resourceLimits = { maxOldGenerationSizeMb: 128 };
/** How long a record waits for others at most. A crash loses it. */
const flushMs = 500;
/** How often a recorder without records says that it runs. */
const idleMs = 10_000;
/** Records that wait for the disk; more are lost. */
const maxWaitingBytes = 64 * 1024 ** 2;

const stoppedReason = 'the recording thread has ended';

/** Records to a directory, in a thread of its own. */
export class Recorder implements Recording {
  readonly #options: RecorderOptions;
  readonly #thread: Worker;
  readonly #snapshots = new SnapshotSchedule();
  readonly #converter: RecordConverter;
  #records: NewRecord[] = [];
  /** Batches that the thread has not appended yet. */
  readonly #appending: (readonly NewRecord[])[] = [];
  #waitingBytes = 0;
  #isPaused: boolean;
  #hasLost = false;
  #isFailing = false;
  #isClosing = false;
  /** The thread has ended. */
  #isStopped = false;
  #cancelFlush: Cancel | undefined;
  readonly #cancelIdle: Cancel;
  readonly #questions = new Map<number, PromiseWithResolvers<unknown>>();
  #nextId = 0;
  readonly #ended = Promise.withResolvers<void>();

  private constructor(options: RecorderOptions, thread: Worker, ended: Promise<void>) {
    this.#options = options;
    this.#thread = thread;
    this.#converter = new RecordConverter(options.logger);
    this.#isPaused = options.isPaused ?? false;
    this.#cancelIdle = repeat(options.clock, idleMs, () => this.#flush());
    thread.on('message', (answer: ThreadAnswer) => this.#answered(answer));
    thread.on('error', (error) => this.#stopped(error));
    void ended.then(() => this.#stopped(new Error(stoppedReason)));
  }

  /** @throws Error with a message for people if the directory cannot be used */
  static async open(options: RecorderOptions): Promise<Recorder> {
    const { directory, limits, version } = options;
    // A bundle replaces the URL by that of its own file.
    const thread = new Worker(new URL('./recorder-thread.ts', import.meta.url), { resourceLimits });
    const started = Promise.withResolvers<ThreadAnswer>();
    thread.once('message', started.resolve).once('error', started.reject);
    // When this thread is busy, the other one may answer and end before it continues here.
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.postMessage({ directory, limits, version } satisfies ThreadOptions);
    const answer = await started.promise;
    thread.off('error', started.reject);
    if (answer.kind === 'unusable') {
      await ended;
      throw new Error(answer.reason);
    }
    const recorder = new Recorder(options, thread, ended);
    await recorder.#continue();
    return recorder;
  }

  /** What continues is judged by what was recorded before. Without an answer, nothing is known. */
  async #continue(): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      const now = clock.now();
      const { problems } = await this.problems({ from: 0, to: now, isOpen: true });
      this.#converter.continueFrom({ problems, services: await this.#ask('servicesAt', now) });
    } catch (error) {
      logger.warn('former recording not read', { error });
    }
  }

  add(topic: Topic, record: BusRecord): void {
    const added = this.#converter.convert(topic, record, this.#options.clock.now());
    if (added === undefined || this.#isStopped) return;
    if (!this.#isPaused) this.#append(added);
    else if (isServiceKey(added.key)) this.#snapshots.added(added);
  }

  /** Starts to write, with the state of each Service. */
  resume(): void {
    this.#isPaused = false;
    this.#flushSoon();
  }

  #append(added: NewRecord): void {
    if (this.#waitingBytes + added.payload.length > maxWaitingBytes) {
      this.#hasLost = true;
      this.#fail(new Error('the disk is too slow'));
      return;
    }
    this.#waitingBytes += added.payload.length;
    this.#records.push(added);
    if (isServiceKey(added.key)) this.#snapshots.added(added);
    this.#flushSoon();
  }

  /** The name by which people know a cluster. */
  nameCluster(identity: string, name: string): void {
    this.#send({ kind: 'name', identity, name });
  }

  /** The Service's records of that time, preceded by those since the last snapshot. Includes what was added before. */
  records(key: string, range: RecordedRange) {
    return this.#ask('records', key, range);
  }

  coverage() {
    return this.#ask('coverage');
  }

  /** When Services had problems in this period. */
  problems(query: Parameters<Recording['problems']>[0]) {
    return this.#ask('problems', query);
  }

  /** Propagations that overlap with a period. Those that continue are not on the disk. */
  async propagations(query: PropagationQuery) {
    const nothing = { propagations: [], unreadable: [] };
    const { propagations, unreadable } = query.isOpen ? nothing : await this.#ask('propagations', query);
    const until = this.#options.clock.now();
    const isFound = ({ key, isStartKnown, startedAt }: Propagation) =>
      matchesKeys(query.keys, key) &&
      (isStartKnown || !query.isStartKnown) &&
      startedAt <= query.to &&
      until - startedAt >= query.atLeastMs;
    const all = [...propagations, ...this.#converter.open.filter(isFound)];
    return {
      propagations: firstOf(
        all.map((propagation) => ({ propagation, until })),
        query,
      ),
      unreadable,
    };
  }

  pods(...asked: Parameters<Recording['pods']>) {
    return this.#ask('pods', ...asked);
  }

  readinessChanges(query: Parameters<Recording['readinessChanges']>[0]) {
    return this.#ask('readinessChanges', query);
  }

  managerChanges(query: ServiceQuery) {
    return this.#ask('managerChanges', query);
  }

  nodeDisruptions(query: Parameters<Recording['nodeDisruptions']>[0]) {
    return this.#ask('nodeDisruptions', query);
  }

  removals(query: ServiceQuery) {
    return this.#ask('removals', query);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelIdle();
    this.#flush();
    this.#send({ kind: 'close', now: this.#options.clock.now(), open: this.#converter.open });
    // To terminate it could interrupt native code, so it ends by itself.
    await this.#ended.promise;
  }

  /** Rejects once the thread has ended. */
  async #ask<Q extends Question | 'servicesAt'>(
    question: Q,
    ...args: Parameters<RecordingReader[Q]>
  ): Promise<ReturnType<RecordingReader[Q]>> {
    if (this.#isStopped) throw new Error(stoppedReason);
    this.#flush();
    const id = this.#nextId++;
    const answer = Promise.withResolvers<unknown>();
    this.#questions.set(id, answer);
    this.#send({ kind: 'ask', id, question, args });
    return (await answer.promise) as ReturnType<RecordingReader[Q]>;
  }

  #flushSoon(): void {
    this.#cancelFlush ??= this.#options.clock.schedule(flushMs, () => this.#flush());
  }

  /** Appends the next snapshots that are due. Returns whether it could take one. */
  #takeSnapshots(): boolean {
    const now = this.#options.clock.now();
    let taken = false;
    for (const key of this.#snapshots.next) {
      const snapshot = this.#converter.exists(key) ? this.#converter.snapshot(key, now) : null;
      if (snapshot === null) this.#snapshots.forget(key);
      else if (snapshot === undefined) this.#snapshots.postpone(key);
      else {
        this.#append(snapshot);
        taken = true;
      }
    }
    return taken;
  }

  #flush(): void {
    if (this.#isPaused) return;
    const hasTaken = !this.#isClosing && this.#takeSnapshots();
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const records = this.#records;
    this.#records = [];
    this.#appending.push(records);
    this.#send({ kind: 'append', records, now: this.#options.clock.now(), afterLoss: this.#hasLost });
    this.#hasLost = false;
    if (hasTaken && !this.#snapshots.isEmpty) this.#flushSoon();
  }

  #send(request: ThreadRequest): void {
    this.#thread.postMessage(request);
  }

  #answered(answer: ThreadAnswer): void {
    switch (answer.kind) {
      case 'appended':
        return this.#appended(answer.isNewFile);
      case 'answered':
        return this.#take(answer.id)?.resolve(answer.answer);
      case 'failed': {
        const error = new Error(answer.reason);
        if (answer.id !== undefined) return this.#take(answer.id)?.reject(error);
        this.#takeBatch();
        // The thread has ended its file, so the gap is on the disk already.
        return this.#fail(error);
      }
    }
  }

  #appended(isNewFile: boolean): void {
    const { directory, logger } = this.#options;
    const records = this.#takeBatch();
    if (isNewFile) {
      this.#snapshots.restart([...records, ...this.#appending.flat(), ...this.#records]);
      if (!this.#isClosing) this.#flushSoon();
    }
    if (this.#isFailing) logger.info('recording continues', { directory });
    this.#isFailing = false;
  }

  #takeBatch(): readonly NewRecord[] {
    const records = this.#appending.shift() ?? [];
    for (const { payload } of records) this.#waitingBytes -= payload.length;
    return records;
  }

  #take(id: number): PromiseWithResolvers<unknown> | undefined {
    const read = this.#questions.get(id);
    this.#questions.delete(id);
    return read;
  }

  #fail(error: Error): void {
    const { directory, logger } = this.#options;
    if (!this.#isFailing) logger.error('recording failed; the recording has a gap', { directory, error });
    this.#isFailing = true;
  }

  #stopped(error: Error): void {
    this.#ended.resolve();
    if (!this.#isClosing && !this.#isStopped) this.#fail(error);
    this.#isStopped = true;
    for (const { reject } of this.#questions.values()) reject(error);
    this.#questions.clear();
  }
}

function repeat(clock: Clock, intervalMs: number, run: () => void): Cancel {
  const next = () => {
    run();
    cancel = clock.schedule(intervalMs, next);
  };
  let cancel = clock.schedule(intervalMs, next);
  return () => cancel();
}
