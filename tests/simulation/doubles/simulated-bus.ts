import type { Bus, Delivery, Topic } from '@sluice/bus';

/** A bus whose logs faults act on. */
export interface SimulatedBus extends Bus {
  log(topic: Topic, partition: number): SimulatedLog;
  /** With this probability, connections break before, or after, something takes effect. Undefined: there are none. */
  breakConnections?(probability: number): void;
}

/** One partition of a topic. */
export interface SimulatedLog {
  readonly last: Delivery | undefined;
  /** Everything that was ever appended; undefined if the double does not keep it. */
  readonly appended?: readonly Delivery[];
  end(): { readonly offset: number };
  /** Removes all records; offsets continue. */
  purge(): void;
  /** Deletes and recreates the log. */
  recreate(): void;
  /** Offset that the first record of an empty log follows. */
  startAt(offset: number): void;
  /** Discards the oldest records beyond this size; undefined: no more. */
  limitBytes(bytes: number | undefined): void;
  /** Loses the last `count` records, as after a power failure; later records reuse their offsets. */
  loseLast(count: number): void;
}
