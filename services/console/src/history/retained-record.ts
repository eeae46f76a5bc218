import type { BusRecord } from '@sluice/bus';
import { countAddresses } from '@sluice/controllers';
import { decodeMessage, type Message } from '@sluice/messages';
import type { EndpointSlice, Endpoints } from '@sluice/model';

/** An object that plans write. */
export type Written = EndpointSlice | Endpoints;

/** A record of the bus: encoded, or as the message object if it was created in this process. Immutable. */
export interface RetainedRecord {
  readonly content: Uint8Array | Message;
  /** Size in memory in bytes; estimated for messages. */
  readonly size: number;
  readonly traceparent?: string;
  /** Names of the objects in a Change that are as Sluice has written them; empty: the Endpoints. */
  readonly ownWrites?: readonly string[];
  /** What plans contain as well, of those: it counts with the plan (see own-writes.ts). */
  readonly shared?: ReadonlyMap<string, Written>;
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

/** Estimated size of a message in memory, in bytes, by counting its objects and endpoints. `shared`: what counts elsewhere. */
export function sizeOf(message: Message, shared: ReadonlyMap<string, Written> = new Map()): number {
  let size = messageBytes;
  for (const object of objectsOf(message)) size += objectBytes + endpointsIn(object) * endpointBytes;
  for (const object of shared.values()) size -= endpointsIn(object) * endpointBytes;
  return size;
}

const endpointsIn = (object: Partial<EndpointSlice & Endpoints> | null | undefined): number =>
  (object?.endpoints?.length ?? 0) + countAddresses(object?.subsets ?? []);

/** Content of each object in a message, if it is a slice or Endpoints. */
function objectsOf(message: Message): readonly (Partial<EndpointSlice & Endpoints> | null | undefined)[] {
  switch (message.kind) {
    case 'change':
      return message.facts.map((fact) =>
        fact.kind === 'slice' ? fact.slice : fact.kind === 'endpoints' ? fact.endpoints : null,
      );
    case 'mutations':
      return message.groups.flatMap(({ mutations }) =>
        mutations.map((mutation) => (mutation.verb === 'delete' ? null : mutation.object)),
      );
    case 'outcome':
      return message.results.map(({ current }) => current);
    default:
      return [];
  }
}
