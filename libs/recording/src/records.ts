import type { Topic } from '@sluice/bus';
import { decodeRecord, type Message } from '@sluice/messages';
import type { ServiceProblems } from './problems/check-service.ts';
import type { ManagerChange } from './problems/object-managers.ts';
import type { Propagation } from './propagations.ts';

/** A record of the bus, as it is written to a recording. */
export interface NewRecord {
  /** Formatted ServiceKey; of a cluster that was removed, its identity. */
  readonly key: string;
  readonly topic: RecordedTopic;
  /** In milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  /** The state of the Service follows from this record and later ones. */
  readonly startsSnapshot: boolean;
  /** What the record contains, as KIND/NAME: similar content is stored as a difference. */
  readonly objects: readonly string[];
  /** For people who open the file. */
  readonly text: string;
  /** What is known of the Service after the record; undefined: nothing. */
  readonly service: RecordedService | undefined;
  /** Those that the record ends. */
  readonly propagations: readonly Propagation[];
  readonly managerChanges: readonly ManagerChange[];
  readonly traceparent: string | undefined;
  readonly payload: Uint8Array;
}

export interface RecordedService {
  /** The record creates the Service, which the watcher did not find when it started. */
  readonly isCreated: boolean;
  /** Neither the Service nor its slices or Endpoints exist. */
  readonly isDeleted: boolean;
  /** An event of the Service or of a Pod. */
  readonly isEvent: boolean;
  readonly problems: ServiceProblems;
  /** Perhaps nobody writes slices of the Service that are watched, unless there were some before. */
  readonly mayBeUnwatched: boolean;
}

export type RecordedTopic = Exclude<Topic, 'requests'>;

/** A record as it is read from a recording. */
export interface StoredRecord {
  readonly topic: RecordedTopic;
  readonly receivedAt: number;
  readonly startsSnapshot: boolean;
  readonly traceparent?: string;
  readonly payload: Uint8Array;
}

/** The message of a record; undefined if it cannot be decoded. */
export function messageOf(record: Parameters<typeof decodeRecord>[0]): Message | undefined {
  try {
    return decodeRecord(record);
  } catch {
    return undefined;
  }
}
