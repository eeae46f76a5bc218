import { encodeMessage, formatServiceKey, parseServiceKey, traceOf } from '@sluice/messages';
import type { KeyedRecord } from '../recording-file.ts';
import { messageOf } from '../records.ts';
import { Pseudonyms } from './pseudonyms.ts';
import { redactMessage } from './redact-message.ts';

/** Replaces names, addresses, labels and texts of clusters in the records of one export. */
export class Redaction {
  readonly #pseudonyms = new Pseudonyms();

  /** Gives a Service its names, before the first label with the same value does. */
  service(key: string): void {
    const { namespace, service } = parseServiceKey(key);
    this.#pseudonyms.text(namespace, 'namespace');
    this.#pseudonyms.text(service, 'service');
  }

  /** Undefined for a record that cannot be decoded. */
  record({ payload, traceparent, ...record }: KeyedRecord): KeyedRecord | undefined {
    const message = messageOf({ payload });
    if (message === undefined || message.kind === 'resync') return undefined;
    const redacted = redactMessage(message, this.#pseudonyms);
    const key = redacted.kind === 'clusterRemoved' ? redacted.cluster : formatServiceKey(redacted.key);
    // Without tracestate, which has values of other programs.
    const trace = traceparent === undefined ? undefined : traceOf({ traceparent });
    return { ...record, key, payload: encodeMessage(redacted), ...(trace !== undefined && { traceparent: trace }) };
  }

  /** Identity and name of a cluster. */
  cluster([identity, name]: readonly [string, string]): readonly [string, string] {
    return [this.#pseudonyms.uid(identity), this.#pseudonyms.text(name, 'cluster')];
  }
}
