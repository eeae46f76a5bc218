import type { BusRecord, Topic } from '@sluice/bus';
import { decodeRecord, isServiceKey, type Message } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';

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
  /** What the record says of the Service's endpoints; undefined: nothing. */
  readonly endpoints: RecordedEndpoints | undefined;
  readonly traceparent: string | undefined;
  readonly payload: Uint8Array;
}

export interface RecordedEndpoints {
  readonly isDeleted: boolean;
  /** An event of the Service or of a Pod. */
  readonly isEvent: boolean;
  /** The next record continues the snapshot. */
  readonly isContinued: boolean;
  /** Ready endpoints of each slice; null: it is gone. */
  readonly ready: ReadonlyMap<string, number | null>;
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

/** Undefined for a record that is not part of the history of a Service. */
export function toNewRecord(topic: Topic, record: BusRecord, receivedAt: number): NewRecord | undefined {
  if (topic === 'requests') return undefined;
  const message = messageOf(record);
  if (message === undefined || (!isServiceKey(record.key) && message.kind !== 'clusterRemoved')) return undefined;
  return {
    key: record.key,
    topic,
    receivedAt,
    startsSnapshot: message.kind === 'change' && message.snapshot?.first === true,
    objects: objectsOf(message),
    text: textOf(message),
    endpoints: endpointsOf(message),
    traceparent: record.headers.traceparent,
    payload: record.payload,
  };
}

function messageOf(record: BusRecord): Message | undefined {
  try {
    return decodeRecord(record);
  } catch {
    return undefined;
  }
}

function objectsOf(message: Message): readonly string[] {
  switch (message.kind) {
    case 'change':
      return message.facts.map((fact) => ('name' in fact ? `${fact.kind}/${fact.name}` : fact.kind));
    case 'mutations':
    case 'outcome':
      return [`${message.kind}/${message.controller}`];
    default:
      return [message.kind];
  }
}

function endpointsOf(message: Message): RecordedEndpoints | undefined {
  if (message.kind !== 'change') return undefined;
  const { facts, snapshot } = message;
  const slices = facts.flatMap((fact) => (fact.kind === 'slice' ? [fact] : []));
  return {
    isDeleted: facts.some((fact) => fact.kind === 'service' && fact.service === null),
    isEvent: snapshot === undefined && facts.some(({ kind }) => kind === 'pod' || kind === 'service'),
    isContinued: snapshot?.last === false,
    ready: new Map(slices.map(({ name, slice }) => [name, slice && countReady(slice)])),
  };
}

/** An unknown state counts as ready, as for kube-proxy. */
const countReady = ({ endpoints }: EndpointSlice): number =>
  (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).length;

function textOf(message: Message): string {
  switch (message.kind) {
    case 'change':
      return message.causes.first.map(({ description }) => description).join('; ');
    case 'mutations':
      return `${message.controller}: decided`;
    case 'outcome':
      return `${message.controller}: ${message.results.map(({ status }) => status).join(', ')}`;
    default:
      return message.kind;
  }
}
