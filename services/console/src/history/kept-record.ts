import type { BusRecord } from '@sluice/bus';
import { countAddresses, type EndpointSlice, type Endpoints } from '@sluice/controllers';
import { decodeMessage, type Fact, type Message, type PlannedMutations } from '@sluice/messages';

/** A record of the bus: as bytes, or as the message if it was made in this process. Neither is ever modified. */
export interface KeptRecord {
  readonly content: Uint8Array | Message;
  /** Size in memory in bytes; estimated for messages. */
  readonly size: number;
  readonly traceparent?: string;
  /** Names of objects in a Change whose content was dropped because a plan has it (see own-writes.ts). */
  readonly ownWrites?: readonly string[];
  /** When it was kept, in milliseconds since the Unix epoch. */
  readonly keptAt: number;
}

/** Keeps a record without encoding or decoding it: most are never read. */
export function keep(record: BusRecord, keptAt: number): KeptRecord {
  const { traceparent } = record.headers;
  const content = record.message === undefined ? record.payload : (record.message as Message);
  const size = content instanceof Uint8Array ? content.length : sizeOf(content);
  return { content, size, keptAt, ...(traceparent !== undefined && { traceparent }) };
}

/** The message of a record; undefined if it is malformed. The service that processes it reports it. */
export function read({ content }: KeptRecord): Message | undefined {
  if (!(content instanceof Uint8Array)) return content;
  try {
    return decodeMessage(content);
  } catch {
    return undefined;
  }
}

/** Approximate bytes of a message without its lists, of an object without its endpoints, and of an endpoint. */
const [ofMessage, ofObject, ofEndpoint] = [1_000, 900, 350];

/** Estimated size of a message in memory, in bytes. Fast: it only counts list entries. */
export function sizeOf(message: Message): number {
  switch (message.kind) {
    case 'change':
      return message.facts.reduce((sum, fact) => sum + ofObject + sizeOfFact(fact), ofMessage);
    case 'mutations':
      return ofMessage + sizeOfPlan(message);
    case 'outcome':
      return message.results.reduce((sum, { current }) => sum + ofObject + sizeOfObject(current), ofMessage);
    default:
      return ofMessage;
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
      size += ofObject + (mutation.verb === 'delete' ? 0 : sizeOfObject(mutation.object));
  }
  return size;
}

function sizeOfObject(object: Partial<EndpointSlice & Endpoints> | null | undefined): number {
  return ((object?.endpoints?.length ?? 0) + countAddresses(object?.subsets ?? [])) * ofEndpoint;
}
