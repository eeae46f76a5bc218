import { createInbox, nuid } from '@nats-io/nats-core';
import { BusClosedError, type BusRecord } from '@sluice/bus';
import { backoffMs, sleep } from '@sluice/runtime';
import { Acks, type Failure, type PublishResult } from './acks.ts';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts } from './options.ts';
import { checkSize, idHeader, recordHeaders } from './record-message.ts';

export interface PublishTarget {
  readonly stream: string;
  readonly subject: string;
  readonly replicas: number;
  /** Creates the stream again after it was deleted. */
  createStream(): Promise<void>;
}

/** Limits of unacknowledged records per call. */
const maxInFlight = { records: 500, bytes: 4 * 1024 * 1024 };

const retry = { baseMs: 50, maxMs: 5000 };

/**
 * Acknowledgement timeout, doubled after each consecutive timeout: short at first, in case the leader died; longer for a
 * slow disk.
 */
const ackTimeout = { baseMs: 1000, maxMs: 8000 };

/** Consecutive timeouts before a warning. A server with a full disk does not answer; one timeout may be an election. */
const timeoutsBeforeWarning = 2;

/**
 * Appends to streams. Publishes all records of a call without waiting in between, and again with the same ids until each is
 * acknowledged. No record is stored before its predecessor of the same call:
 *
 * - A stream with one replica gets a chain: each record names its predecessor as the expected last message of the stream.
 *   If another publisher interleaves, the rest is published again.
 * - A replicated stream gets an atomic batch. It checks message ids before replication and the expected last message after
 *   it, so a rejected record of a chain would block its id for the whole duplicate window. With one replica, a batch costs
 *   tens of milliseconds because each batch has its own file store.
 */
export class Publisher {
  readonly #link: NatsLink;
  readonly #ports: JetStreamBusPorts;
  readonly #acks: Acks;
  readonly #closing = new AbortController();

  constructor(link: NatsLink, inboxPrefix: string, ports: JetStreamBusPorts) {
    this.#link = link;
    this.#ports = ports;
    this.#acks = new Acks(link, createInbox(inboxPrefix), ports.clock);
  }

  /**
   * Returns the stream sequences of the records.
   *
   * @throws BusClosedError, RecordTooLargeError
   */
  async append(target: PublishTarget, records: readonly BusRecord[]): Promise<readonly number[]> {
    const { logger } = this.#ports;
    const offsets: number[] = [];
    let failures = 0;
    let timeouts = 0;
    let warned = false;
    const warn = (reason: string) => {
      if (!warned) logger.warn('publish failed; retrying', { stream: target.stream, reason });
      warned = true;
    };
    /** Records before this index are published one at a time: some may be stored already. */
    let singlyUntil = 0;
    while (offsets.length < records.length) {
      const done = offsets.length;
      await this.#link.whenUp();
      if (this.#link.closed) throw new BusClosedError('the bus is closed');
      const singly = done < singlyUntil;
      const chunk = singly ? records.slice(done, done + 1) : nextChunk(records, done);
      // The server may have a lower limit than before the reconnect.
      for (const record of chunk) checkSize(record, this.#link.maxPayload);
      const batch = target.replicas > 1 && chunk.length > 1;
      const timeoutMs = Math.min(ackTimeout.maxMs, ackTimeout.baseMs * 2 ** timeouts);
      const { sequences, failure } = await (batch
        ? this.#batch(target, chunk, timeoutMs)
        : this.#chain(target, chunk, timeoutMs));
      for (const sequence of sequences) offsets.push(sequence);
      timeouts = failure?.kind === 'timeout' ? timeouts + 1 : 0;
      if (failure === undefined) {
        if (warned) logger.info('publish succeeded again', { stream: target.stream });
        warned = false;
        failures = 0;
      } else if (failure.kind === 'duplicates') {
        singlyUntil = offsets.length + chunk.length;
      } else if (failure.kind === 'no-stream' || failure.kind === 'refused') {
        warn(failure.reason);
        await this.#backOff(target, failure, failures++);
      } else if (timeouts >= timeoutsBeforeWarning) {
        warn(`${failure.reason}; check the NATS server log, for example for a full disk`);
      }
      // Otherwise the remaining records are published again at once, or after the reconnect.
    }
    return offsets;
  }

  close(): void {
    this.#closing.abort();
    this.#acks.close();
  }

  #chain({ subject }: PublishTarget, records: readonly BusRecord[], timeoutMs: number): Promise<PublishResult> {
    return this.#acks.expect(records.length, timeoutMs, (reply) => {
      let last = '';
      for (const [index, record] of records.entries()) {
        const headers = recordHeaders(record);
        if (index > 0) headers.set('Nats-Expected-Last-Msg-Id', last);
        last = headers.get(idHeader);
        this.#link.nc.publish(subject, record.payload, { headers, reply: reply(index) });
      }
    });
  }

  async #batch({ subject }: PublishTarget, records: readonly BusRecord[], timeoutMs: number): Promise<PublishResult> {
    const id = nuid.next();
    const result = await this.#acks.expect(1, timeoutMs, (reply) => {
      for (const [index, record] of records.entries()) {
        const headers = recordHeaders(record);
        headers.set('Nats-Batch-Id', id);
        headers.set('Nats-Batch-Sequence', String(index + 1));
        const last = index === records.length - 1;
        if (last) headers.set('Nats-Batch-Commit', '1');
        this.#link.nc.publish(subject, record.payload, { headers, ...(last && { reply: reply(0) }) });
      }
    });
    const [last] = result.sequences;
    return last === undefined ? result : { sequences: records.map((_, index) => last + 1 - records.length + index) };
  }

  async #backOff(target: PublishTarget, failure: Failure, failures: number): Promise<void> {
    const { logger, clock, random } = this.#ports;
    if (failure.kind === 'no-stream') {
      await target.createStream().catch((error: unknown) => {
        logger.warn('stream missing and cannot be created; retrying', { stream: target.stream, error });
      });
    }
    await sleep(clock, backoffMs(retry, failures, random), this.#closing.signal);
  }
}

function nextChunk(records: readonly BusRecord[], from: number): readonly BusRecord[] {
  let bytes = 0;
  let to = from;
  while (to < records.length && to - from < maxInFlight.records) {
    bytes += records[to]?.payload.length ?? 0;
    if (to > from && bytes > maxInFlight.bytes) break;
    to++;
  }
  return records.slice(from, to);
}
