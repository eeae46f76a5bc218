/** Default maximum number of dead letters. */
export const maxDeadLetters = 1_000;
/** Default maximum size of all dead letters, in bytes. */
export const maxDeadLetterBytes = 64 * 1024 * 1024;

/**
 * Records that could not be processed, kept with the reason until an operator drops them. Bounded in number and bytes: the
 * oldest are evicted, but never the newest.
 */
export interface DeadLetters {
  add(letter: NewDeadLetter): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly DeadLetter[]>;
  /** Returns false if there is no dead letter with this name. */
  drop(name: string): Promise<boolean>;
}

export interface NewDeadLetter {
  /** Topic and partition the record came from. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the Unix epoch. */
  readonly deadLetteredAt: number;
  readonly reason: string;
  readonly record: {
    readonly id: string;
    readonly key: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: Uint8Array;
  };
}

export interface DeadLetter extends NewDeadLetter {
  /** `changes/17/4711`: topic, partition and offset. Dead-lettering a record again has no effect. */
  readonly name: string;
}

export function deadLetterName({ topic, partition, offset }: NewDeadLetter): string {
  return `${topic}/${partition}/${offset}`;
}
