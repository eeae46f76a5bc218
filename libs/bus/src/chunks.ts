import { crc32 } from 'node:zlib';
import type { BusRecord, Delivery } from './bus.ts';

/** Header of a chunk: index from 0, number of chunks, bytes and CRC-32 of the whole payload, separated by slashes. */
const chunkHeader = 'Sluice-Chunk';

/** Position of a chunk in its message. */
interface Chunk {
  readonly index: number;
  readonly count: number;
  /** Size of the whole payload. */
  readonly bytes: number;
  /** CRC-32 of the whole payload. */
  readonly checksum: number;
}

/**
 * Splits a record into records of at most `chunkBytes`, or returns it alone if it is not larger. The same record always
 * gives the same chunks. The last chunk has the record's id, so that the id of the message marks a position in the log.
 */
export function splitRecord(record: BusRecord, chunkBytes: number): readonly BusRecord[] {
  const { payload } = record;
  const bytes = payload.length;
  if (bytes <= chunkBytes) return [record];
  const count = Math.ceil(bytes / chunkBytes);
  const checksum = crc32(payload);
  return Array.from({ length: count }, (_, index) => ({
    key: record.key,
    id: index === count - 1 ? record.id : `${record.id}/chunk/${checksum}/${index}-${count}`,
    headers: { ...record.headers, [chunkHeader]: [index, count, bytes, checksum].join('/') },
    payload: payload.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  }));
}

/** Undefined if the record is a message of its own. */
export function chunkOf({ headers }: Delivery): Chunk | undefined {
  const text = headers[chunkHeader];
  if (text === undefined) return undefined;
  const [index = 0, count = 0, bytes = 0, checksum = 0] = text.split('/').map(Number);
  return { index, count, bytes, checksum };
}

/**
 * The message whose last chunk is given, with its offset and id. Undefined if the chunks do not match the checksum.
 */
function joinChunks(payloads: readonly Uint8Array[], { checksum }: Chunk, last: Delivery): Delivery | undefined {
  const payload = Buffer.concat(payloads);
  if (crc32(payload) !== checksum) return undefined;
  const { [chunkHeader]: _, ...headers } = last.headers;
  return { key: last.key, id: last.id, offset: last.offset, headers, payload };
}

/** A message of which some chunks have arrived. */
interface Incomplete {
  readonly key: string;
  readonly chunk: Chunk;
  readonly firstOffset: number;
  readonly payloads: Uint8Array[];
  bytes: number;
  /** Until then, later records wait for the message. Moves with each chunk. */
  holdUntil: number;
}

interface ChunkAssemblerOptions {
  /** Messages larger than this are dropped, and so are the oldest incomplete ones beyond twice this size. */
  readonly maxMessageBytes: number;
  /** How long after a chunk the next one is expected, in milliseconds. */
  readonly holdMs: number;
  /** Called when a message cannot be completed. */
  readonly onDropped: (key: string, reason: string) => void;
}

/**
 * Joins the chunks of one partition. Chunks of a message arrive in order; chunks of other messages and repeated chunks may
 * come in between. A message is dropped if a chunk is missing: its sender sends it again, or its absence is detected like
 * that of any lost record.
 */
export class ChunkAssembler {
  readonly #options: ChunkAssemblerOptions;
  readonly #incomplete = new Map<string, Incomplete>();
  #bytes = 0;

  constructor(options: ChunkAssemblerOptions) {
    this.#options = options;
  }

  /** Takes a chunk. Returns the message if this completes it. */
  add(delivery: Delivery, chunk: Chunk, now: number): Delivery | undefined {
    const { maxMessageBytes, holdMs, onDropped } = this.#options;
    const name = `${messageId(delivery, chunk)} ${chunk.count} ${chunk.checksum}`;
    let message = this.#incomplete.get(name);
    if (message === undefined) {
      // The reader started in the middle of the message, or the message is complete and the chunk a repeated one.
      if (chunk.index > 0) {
        // Reachable: chunk without its beginning
        return undefined;
      }
      if (!(chunk.bytes <= maxMessageBytes)) {
        onDropped(delivery.key, `${chunk.bytes} bytes exceed the limit of ${maxMessageBytes}`);
        return undefined;
      }
      message = { key: delivery.key, chunk, firstOffset: delivery.offset, payloads: [], bytes: 0, holdUntil: 0 };
      this.#incomplete.set(name, message);
    }
    if (chunk.index < message.payloads.length) return undefined;
    if (chunk.index > message.payloads.length || message.bytes + delivery.payload.length > chunk.bytes) {
      this.#drop(name, message, `chunk ${message.payloads.length + 1} of ${chunk.count} is missing`);
      return undefined;
    }
    message.payloads.push(delivery.payload);
    message.bytes += delivery.payload.length;
    message.holdUntil = now + holdMs;
    this.#bytes += delivery.payload.length;
    if (message.payloads.length < chunk.count) {
      this.#limitMemory();
      return undefined;
    }
    this.#remove(name, message);
    const joined = joinChunks(message.payloads, chunk, delivery);
    if (joined === undefined) onDropped(delivery.key, 'the checksum does not match');
    return joined;
  }

  /** Records from this offset on wait for an incomplete message. Undefined: none waits. */
  holdsFrom(now: number): number | undefined {
    let first: number | undefined;
    for (const { holdUntil, firstOffset } of this.#incomplete.values()) {
      if (holdUntil > now && (first === undefined || firstOffset < first)) first = firstOffset;
    }
    return first;
  }

  /** When to check `holdsFrom` again although no record arrives. */
  nextRelease(now: number): number | undefined {
    const times = [...this.#incomplete.values()].map(({ holdUntil }) => holdUntil).filter((at) => at > now);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** No record waits any longer. The messages can still be completed. */
  releaseAll(): void {
    for (const message of this.#incomplete.values()) message.holdUntil = Number.NEGATIVE_INFINITY;
  }

  #limitMemory(): void {
    for (const [name, message] of this.#incomplete) {
      if (this.#bytes <= 2 * this.#options.maxMessageBytes) return;
      this.#drop(name, message, 'too many incomplete messages');
    }
  }

  #drop(name: string, message: Incomplete, reason: string): void {
    this.#remove(name, message);
    this.#options.onDropped(message.key, reason);
  }

  #remove(name: string, message: Incomplete): void {
    this.#bytes -= message.bytes;
    this.#incomplete.delete(name);
  }
}

/** The id of the last chunk, which begins the ids of all others. */
function messageId({ id }: Delivery, { index, count, checksum }: Chunk): string {
  return index === count - 1 ? id : id.slice(0, -`/chunk/${checksum}/${index}-${count}`.length);
}
