/**
 * Records that nobody could make sense of, kept aside with the reason until a person has looked at them. Bounded: the
 * oldest go first.
 */
export interface DeadLetters {
  add(letter: NewDeadLetter): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly DeadLetter[]>;
  /** False if there is none of that name. */
  drop(name: string): Promise<boolean>;
}

export interface NewDeadLetter {
  /** Topic and partition that it came from. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** When it was set aside, in milliseconds since the Unix epoch. */
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
  /** `changes/17/4711`: topic, partition and offset; setting the same record aside again changes nothing. */
  readonly name: string;
}

export function deadLetterName({ topic, partition, offset }: NewDeadLetter): string {
  return `${topic}/${partition}/${offset}`;
}
