import { decodeMessage, encodeMessage, type Message } from './codec.ts';

/** The fields of a bus record besides its payload. */
export interface RecordHead {
  /** Formatted service key. */
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A bus record that encodes its payload on first use, which an in-process bus may never need. The message must not change. */
export class MessageRecord implements RecordHead {
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: Message;
  #payload: Uint8Array | undefined;

  constructor({ key, id, headers }: RecordHead, message: Message) {
    this.key = key;
    this.id = id;
    this.headers = headers;
    this.message = message;
  }

  get payload(): Uint8Array {
    this.#payload ??= encodeMessage(this.message);
    return this.#payload;
  }
}

/**
 * Returns the message of a record. A message delivered by reference is trusted; a payload is decoded and validated. Throws
 * MessageError.
 */
export function decodeRecord(record: { readonly payload: Uint8Array; readonly message?: unknown }): Message {
  return record.message === undefined ? decodeMessage(record.payload) : (record.message as Message);
}
