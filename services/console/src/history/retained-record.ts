import type { BusRecord } from '@sluice/bus';
import { countAddresses } from '@sluice/controllers';
import { decodeMessage, type Message } from '@sluice/messages';
import type { EndpointSlice, Endpoints } from '@sluice/model';

/** A record of the bus: encoded, or as the message object if it was created in this process. Immutable. */
export interface RetainedRecord {
  readonly content: Uint8Array | Message;
  readonly traceparent?: string;
  /** In milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/** Retains a record without encoding or decoding it, because most records are never read. */
export function retain(record: BusRecord, receivedAt: number): RetainedRecord {
  const { traceparent } = record.headers;
  const content = record.message === undefined ? record.payload : (record.message as Message);
  return { content, receivedAt, ...(traceparent !== undefined && { traceparent }) };
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

/**
 * Size of a record in memory, in bytes, estimated for a message by counting its objects and endpoints. `counted`: content that
 * counts with other records.
 */
export function sizeOf({ content }: RetainedRecord, counted: WeakSet<object>): number {
  if (content instanceof Uint8Array) return content.length;
  let size = messageBytes;
  for (const object of objectsOf(content)) {
    size += objectBytes;
    const list = object?.endpoints ?? object?.subsets;
    if (!object || !list || counted.has(list)) continue;
    counted.add(list);
    size += ((object.endpoints?.length ?? 0) + countAddresses(object.subsets ?? [])) * endpointBytes;
  }
  return size;
}

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
