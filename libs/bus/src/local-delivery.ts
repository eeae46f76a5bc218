import type { BusRecord, Delivery } from './bus.ts';

/** A record of this process that its reader gets without the log. Encodes the payload only when it is read. */
export class LocalDelivery implements Delivery {
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: unknown;
  readonly offset: number;
  readonly stored: Promise<unknown> | undefined;
  readonly isEarly: boolean;
  readonly #record: BusRecord;

  /** @param place where the log stores the record; undefined if the log delivers it once more, with its offset */
  constructor(record: BusRecord, place?: { readonly offset: number; readonly stored: Promise<unknown> }) {
    this.key = record.key;
    this.id = record.id;
    this.headers = record.headers;
    this.message = record.message;
    this.offset = place?.offset ?? 0;
    this.stored = place?.stored;
    this.isEarly = place === undefined;
    this.#record = record;
  }

  get payload(): Uint8Array {
    return this.#record.payload;
  }
}
