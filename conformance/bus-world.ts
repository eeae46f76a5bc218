import type { Bus, Topic } from '@sluice/bus';

/** What an adapter promises beyond the port's contract, and what its bus can be made to suffer. */
export interface BusFeatures {
  /** `append` to `changes` waits while more records than this are not released. */
  readonly maxBacklog?: number;
  /** The bus has a limit for the size of a record. */
  readonly limited?: boolean;
  /** A record that is appended again soon, with the same id, is kept once. */
  readonly dedupes?: boolean;
  /** The log lives outside the process: every `connect` of one world sees the same logs. */
  readonly shared?: boolean;
  /** The world has `faults`. */
  readonly faults?: boolean;
}

/** One fleet's logs, empty at first. */
export interface BusWorld {
  /** A bus on these logs, as one process has it. */
  connect(): Promise<Bus>;
  readonly faults?: BusFaults;
  /** After the buses are closed. */
  dispose(): Promise<void>;
}

/** What may happen to the servers behind the bus. */
export interface BusFaults {
  /** Ends them at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts them after `kill`, with their data; returns when they answer. */
  start(): Promise<void>;
  /** Remembers their data as they are now. */
  save(): Promise<void>;
  /** Crashes them and starts them with the data of the last `save`: what was appended since is lost. */
  rewind(): Promise<void>;
  /** Deletes one log, as an operator could, and makes it again, empty. */
  remake(topic: Topic, partition: number): Promise<void>;
}

export type CreateBusWorld = (options: { readonly partitions: number }) => Promise<BusWorld>;
