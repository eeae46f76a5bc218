import type { Bus, Topic } from '@sluice/bus';

/** Guarantees of an adapter beyond the contract of the port. */
export interface BusFeatures {
  /** `append` to `changes` waits while more records than this are unreleased. */
  readonly maxBacklog?: number;
  /** The bus limits the size of a record. */
  readonly limited?: boolean;
  /** Headers count towards the limit. */
  readonly countsHeaders?: boolean;
  /** A record appended again shortly afterwards with the same id is stored once. */
  readonly dedupes?: boolean;
  /** The log lives outside the process, so all connections see the same log. */
  readonly shared?: boolean;
  /** `faults` are available. */
  readonly faults?: boolean;
}

/** The logs of one fleet, initially empty. */
export interface BusUnderTest {
  /** Connects a bus to these logs, as one process does. */
  connect(): Promise<Bus>;
  readonly faults?: BusFaults;
  /** Call after all buses are closed. */
  dispose(): Promise<void>;
}

/** Faults of the servers behind the bus. */
export interface BusFaults {
  /** Kills the servers. */
  kill(): Promise<void>;
  /** Starts the servers with their data after `kill`; resolves when they respond. */
  start(): Promise<void>;
  /** Saves a copy of the data. */
  save(): Promise<void>;
  /** Restarts the servers with the data of the last `save`; later records are lost. */
  rewind(): Promise<void>;
  /** Deletes one log and creates it again. */
  recreate(topic: Topic, partition: number): Promise<void>;
}

export type CreateBusUnderTest = (options: { readonly partitions: number }) => Promise<BusUnderTest>;
