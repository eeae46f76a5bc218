import { createInbox } from '@nats-io/nats-core';
import { backoffMs, sleep } from '@sluice/platform';
import { BusClosedError, type BusRecord, RecordRejectedError } from '../index.ts';
import { Acks, type BatchResult, type Failure } from './acks.ts';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts } from './options.ts';
import { boundedSize, recordHeaders } from './record-message.ts';

export interface PublishTarget {
  readonly stream: string;
  readonly subject: string;
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
 * Appends to streams. Publishes the records of a call as one fast batch, without waiting in between, and again with the same ids
 * until each is stored. The server ends a batch at the first record that it misses or refuses, so no record is stored before
 * its predecessor of the same call (ADR 0013).
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
   * Returns the stream sequences of the records: exact for the last one, and for the others unless records of another publisher
   * are among them.
   *
   * @throws BusClosedError, RecordRejectedError
   */
  async append(target: PublishTarget, records: readonly BusRecord[]): Promise<readonly number[]> {
    const { logger } = this.#ports;
    const offsets: number[] = [];
    let failures = 0;
    let timeouts = 0;
    let warned = false;
    let isSuspect = false;
    const warn = (reason: string) => {
      if (!warned) logger.warn('publish failed; retrying', { stream: target.stream, reason });
      warned = true;
    };
    while (offsets.length < records.length) {
      await this.#link.whenUp();
      if (this.#link.closed) throw new BusClosedError('the bus is closed');
      // The server may have a lower limit than before the reconnect.
      const next = nextBatch(records, offsets.length, this.#link.maxPayload);
      if (typeof next === 'string') throw new RecordRejectedError(next, offsets);
      // The server says which batch holds a message that it rejects, and less reliably which message it is.
      const batch = isSuspect ? next.slice(0, 1) : next;
      const timeoutMs = Math.min(ackTimeout.maxMs, ackTimeout.baseMs * 2 ** timeouts);
      const { count, last, failure } = await this.#publish(target, batch, timeoutMs);
      for (let i = 1; i <= count; i++) offsets.push(last - count + i);
      if (failure?.kind === 'rejected' && batch.length === 1) throw new RecordRejectedError(failure.reason, offsets);
      isSuspect = failure?.kind === 'rejected';
      timeouts = failure?.kind === 'timeout' ? timeouts + 1 : 0;
      if (failure === undefined) {
        if (warned) logger.info('publish succeeded again', { stream: target.stream });
        warned = false;
        failures = 0;
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

  async #publish(target: PublishTarget, records: readonly BusRecord[], timeoutMs: number): Promise<BatchResult> {
    const result = await this.#batch(target, records, timeoutMs);
    if (result.count === 0 || result.last > 0) return result;
    // The server knew all ids. It returns the sequence of a known id only to a batch of one message, which it refuses while that
    // message is still being replicated and may yet be lost.
    const { last, failure } = await this.#batch(target, records.slice(result.count - 1, result.count), timeoutMs);
    return failure === undefined ? { ...result, last } : { count: 0, last: 0, failure };
  }

  #batch({ subject }: PublishTarget, records: readonly BusRecord[], timeoutMs: number): Promise<BatchResult> {
    return this.#acks.expect(records.length, timeoutMs, (reply) => {
      for (const [index, record] of records.entries()) {
        this.#link.nc.publish(subject, record.payload, { headers: recordHeaders(record), reply: reply(index) });
      }
    });
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

/** The next records that fit, or why the first of them is rejected. */
function nextBatch(records: readonly BusRecord[], from: number, maxPayload: number): readonly BusRecord[] | string {
  let bytes = 0;
  let to = from;
  for (const record of records.slice(from, from + maxInFlight.records)) {
    const size = boundedSize(record, maxPayload);
    if (typeof size === 'string') {
      if (to === from) return size;
      break;
    }
    bytes += size;
    if (to > from && bytes > maxInFlight.bytes) break;
    to++;
  }
  return records.slice(from, to);
}
