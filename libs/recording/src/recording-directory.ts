import { closeSync, mkdirSync, openSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage } from '@sluice/platform';
import { companions, fileName, filesIn } from './file-names.ts';
import type { Propagation } from './propagations.ts';
import { RecordingWriter } from './recording-writer.ts';
import type { NewRecord } from './records.ts';

export interface RecordingLimits {
  /** Size of all files, in bytes. */
  readonly maxBytes: number;
  /** A file is removed once its last record is older, in milliseconds. */
  readonly retentionMs: number;
  /** What the recording leaves free on its disk, in bytes. */
  readonly minFreeBytes: number;
}

interface Options {
  readonly limits: RecordingLimits;
  /** Of the program. */
  readonly version: string;
  /** Names, addresses, labels and texts are replaced by pseudonyms. Default: false. */
  readonly isRedacted?: boolean;
  /** Closes what this process reads. A file that is open elsewhere keeps its write-ahead log when it ends. */
  readonly closeReaders?: () => void;
}

/** A recording is divided into this many files at least, so that the removal of one removes little. */
const minFiles = 8;
const checkIntervalMs = 10_000;

/** Appends to the recording in a directory: a file per period, the oldest of which are removed. */
export class RecordingDirectory {
  readonly #directory: string;
  readonly #options: Options;
  readonly #lock: DatabaseSync;
  #writer: RecordingWriter | undefined;
  /** By identity. Each file contains them. */
  readonly #clusterNames = new Map<string, string>();
  #startedAt = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;

  /** @throws Error with a message for people if the directory cannot be used, or another process records to it */
  constructor(directory: string, options: Options) {
    this.#directory = directory;
    this.#options = options;
    this.#lock = lock(directory);
  }

  /**
   * Appends all records or none; everything until `now` was recorded. Returns whether they are the first of a file.
   * `afterLoss`: records between the last ones and these were lost.
   *
   * @throws Error if the disk is full or fails. The next call begins a new file, so the time between is a gap.
   */
  append(records: readonly NewRecord[], now: number, { afterLoss = false } = {}): boolean {
    if (afterLoss) this.#abandon();
    try {
      if (now - this.#checkedAt >= checkIntervalMs || now < this.#checkedAt) this.#check(now);
      const isNew = this.#writer === undefined;
      this.#writer ??= this.#open(now);
      this.#writer.append(records, now);
      return isNew;
    } catch (error) {
      this.#abandon();
      this.#checkedAt = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  /** The name by which people know a cluster. */
  nameCluster(identity: string, name: string): void {
    this.#clusterNames.set(identity, name);
    this.#writer?.nameCluster(identity, name);
  }

  #abandon(): void {
    this.#writer?.abandon();
    this.#writer = undefined;
  }

  /** `open`: propagations that continue. */
  close(now: number, open: readonly Propagation[] = []): void {
    this.#closeFile(now, open);
    this.#lock.close();
  }

  #closeFile(now: number, open: readonly Propagation[] = []): void {
    this.#options.closeReaders?.();
    this.#writer?.close(now, open);
    this.#writer = undefined;
  }

  /** Begins a new file in time, and removes the oldest ones. */
  #check(now: number): void {
    this.#checkedAt = now;
    const { maxBytes, retentionMs, minFreeBytes } = this.#options.limits;
    const files = filesIn(this.#directory);
    const current = files.find(({ path }) => path === this.#writer?.path);
    if ((current?.bytes ?? 0) > maxBytes / minFiles || now - this.#startedAt > retentionMs / minFiles) {
      this.#closeFile(now);
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    let free = freeBytes(this.#directory);
    for (const file of files) {
      const isKept = file.modifiedAt >= now - retentionMs && bytes <= maxBytes && free >= minFreeBytes;
      if (isKept || file.path === this.#writer?.path) break;
      for (const path of companions(file.path)) rmSync(path, { force: true });
      bytes -= file.bytes;
      free += file.bytes;
    }
    if (free < minFreeBytes) {
      throw new Error(`${this.#directory}: less than ${Math.round(minFreeBytes / 1024 ** 2)} MiB free on the disk`);
    }
  }

  #open(now: number): RecordingWriter {
    this.#startedAt = now;
    const { version, isRedacted = false } = this.#options;
    const writer = new RecordingWriter(join(this.#directory, fileName(now)), { now, version, isRedacted });
    for (const [identity, name] of this.#clusterNames) writer.nameCluster(identity, name);
    return writer;
  }
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Held by an open transaction, which ends with the process. */
function lock(directory: string): DatabaseSync {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, 'lock.sqlite');
    closeSync(openSync(path, 'a', 0o600));
    const database = new DatabaseSync(path);
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    const isHeld = errorMessage(error).includes('locked');
    const reason = isHeld ? 'another process is recording to it; choose another directory' : errorMessage(error);
    throw new Error(`cannot record to ${directory}: ${reason}`);
  }
}
