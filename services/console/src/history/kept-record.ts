import type { BusRecord } from '@sluice/bus';
import type { EndpointSlice, Endpoints } from '@sluice/controllers';
import { decodeMessage, type Fact, type Message, type PlannedMutations } from '@sluice/messages';

/** A record of the bus as it was kept: as bytes, or as the message that was made in this process. Neither is ever changed. */
export interface KeptRecord {
  readonly content: Uint8Array | Message;
  /** In memory, in bytes; of a message estimated. */
  readonly size: number;
  readonly traceparent?: string;
  /** When it was kept, in milliseconds since the Unix epoch. */
  readonly keptAt: number;
}

/** Keeps a record without making bytes of a message, or a message of bytes: most are never looked at. */
export function keep(record: BusRecord, keptAt: number): KeptRecord {
  const { traceparent } = record.headers;
  const content = record.message === undefined ? record.payload : (record.message as Message);
  const size = content instanceof Uint8Array ? content.length : sizeOf(content);
  return { content, size, keptAt, ...(traceparent !== undefined && { traceparent }) };
}

/** What it says; undefined if that is no message. Whoever works on it sets it aside and says so. */
export function read({ content }: KeptRecord): Message | undefined {
  if (!(content instanceof Uint8Array)) return content;
  try {
    return decodeMessage(content);
  } catch {
    return undefined;
  }
}

/** What a message takes without its lists, a Pod or Service, a slice without its endpoints, and an endpoint, about. */
const [ofMessage, ofObject, ofEndpoint] = [1_000, 900, 350];

/** Of a message in memory, in bytes: by its lists, as it may be counted while others wait. */
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
  let endpoints = object?.endpoints?.length ?? 0;
  for (const { addresses, notReadyAddresses } of object?.subsets ?? [])
    endpoints += (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0);
  return endpoints * ofEndpoint;
}
