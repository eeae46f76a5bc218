import { decodeMessage, encodeMessage, type Message } from './codec.ts';

/** What a record of a bus says of itself beside its payload. */
export interface RecordHead {
  /** Formatted service key. */
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A record for a bus that is written as bytes only when somebody asks for them: within one process nobody may. The
 * message must not be changed any more.
 */
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
 * What a record says. Bytes are checked, since anybody may have written them; a message that came as it was made in this
 * process is taken as it is. Throws MessageError.
 */
export function decodeRecord(record: { readonly payload: Uint8Array; readonly message?: unknown }): Message {
  return record.message === undefined ? decodeMessage(record.payload) : (record.message as Message);
}
