import type { BusRecord } from '@sluice/bus';
import { countAddresses, type EndpointSlice, type Endpoints } from '@sluice/controllers';
import { decodeMessage, type Fact, type Message, type PlannedMutations } from '@sluice/messages';

/** A record of the bus: encoded, or as the message object if it was created in this process. Immutable. */
export interface RetainedRecord {
  readonly content: Uint8Array | Message;
  /** Size in memory in bytes; estimated for messages. */
  readonly size: number;
  readonly traceparent?: string;
  /** Names of objects whose content was dropped from a Change because a plan contains it (see own-writes.ts). */
  readonly ownWrites?: readonly string[];
  /** In milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/** Retains a record without encoding or decoding it, because most records are never read. */
export function retain(record: BusRecord, receivedAt: number): RetainedRecord {
  const { traceparent } = record.headers;
  const content = record.message === undefined ? record.payload : (record.message as Message);
  const size = content instanceof Uint8Array ? content.length : sizeOf(content);
  return { content, size, receivedAt, ...(traceparent !== undefined && { traceparent }) };
}

/** The message of a record; undefined if it is malformed, which the service that processes it reports. */
export function messageOf({ content }: RetainedRecord): Message | undefined {
  if (!(content instanceof Uint8Array)) return content;
  try {
    return decodeMessage(content);
  } catch {
    return undefined;
  }
}

/** Approximate sizes in bytes: a message without its objects, an object without its endpoints, an endpoint. */
const [messageBytes, objectBytes, endpointBytes] = [1_000, 900, 350];

/** Estimated size of a message in memory, in bytes, by counting its objects and endpoints. */
export function sizeOf(message: Message): number {
  switch (message.kind) {
    case 'change':
      return message.facts.reduce((sum, fact) => sum + objectBytes + sizeOfFact(fact), messageBytes);
    case 'mutations':
      return messageBytes + sizeOfPlan(message);
    case 'outcome':
      return message.results.reduce((sum, { current }) => sum + objectBytes + sizeOfObject(current), messageBytes);
    default:
      return messageBytes;
  }
}

function sizeOfFact(fact: Fact): number {
  if (fact.kind === 'slice') return sizeOfObject(fact.slice);
  return fact.kind === 'endpoints' ? sizeOfObject(fact.endpoints) : 0;
}

function sizeOfPlan({ groups }: PlannedMutations): number {
  let size = 0;
  for (const { mutations } of groups) {
    for (const mutation of mutations)
      size += objectBytes + (mutation.verb === 'delete' ? 0 : sizeOfObject(mutation.object));
  }
  return size;
}

function sizeOfObject(object: Partial<EndpointSlice & Endpoints> | null | undefined): number {
  return ((object?.endpoints?.length ?? 0) + countAddresses(object?.subsets ?? [])) * endpointBytes;
}
