import { createInbox, nuid } from '@nats-io/nats-core';
import { BusClosedError, type BusRecord } from '@sluice/bus';
import { backoffMs, sleep } from '@sluice/runtime';
import { Acks, type Answer, type Failure } from './acks.ts';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts } from './options.ts';
import { checkSize, idHeader, recordHeaders } from './record-message.ts';

/** Where records go. */
export interface PublishTarget {
  readonly stream: string;
  readonly subject: string;
  readonly replicas: number;
  /** Makes the stream again when it is gone. */
  restore(): Promise<void>;
}

/** How much may be under way at once in one call. */
const maxInFlight = { records: 500, bytes: 4 * 1024 * 1024 };

const retry = { baseMs: 50, maxMs: 5000 };

/**
 * How long an acknowledgement is waited for, doubled each time in a row that none came: short at first, for a leader that
 * died with it; long for a disk that is slow.
 */
const patience = { baseMs: 1000, maxMs: 8000 };

/** A server that cannot write a record to its disk says nothing at all. One late answer may be an election. */
const latesUntilTold = 2;

/**
 * Appends to streams: all records of a call are sent one after the other without waiting, and sent again, with the same
 * ids, until each is acknowledged. None is ever stored before its predecessor of the same call:
 *
 * - A stream with one copy takes a chain: each record names its predecessor as the one that must be the last in the
 *   stream. Where another publisher came in between, the rest is sent again.
 * - A replicated stream takes an atomic batch. It compares ids before it replicates and the last record after it, so a
 *   broken link of a chain would block its id for the whole duplicate window. (In a stream with one copy a batch costs
 *   tens of milliseconds, since each has a file store of its own.)
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

  /** @throws BusClosedError, RecordTooLargeError */
  async append(target: PublishTarget, records: readonly BusRecord[]): Promise<void> {
    const { logger } = this.#ports;
    for (const record of records) checkSize(record, this.#link.maxPayload);
    let done = 0;
    let failures = 0;
    let lates = 0;
    let told = false;
    const tell = (reason: string) => {
      if (!told) logger.warn('NATS does not take records; trying again', { stream: target.stream, reason });
      told = true;
    };
    /** Up to here, one at a time: some may be stored already. */
    let carefulUntil = 0;
    while (done < records.length) {
      await this.#link.whenUp();
      if (this.#link.closed) throw new BusClosedError('the bus is closed');
      const careful = done < carefulUntil;
      const chunk = careful ? records.slice(done, done + 1) : nextChunk(records, done);
      const batch = target.replicas > 1 && chunk.length > 1;
      const patienceMs = Math.min(patience.maxMs, patience.baseMs * 2 ** lates);
      const { stored, failure } = await (batch
        ? this.#batch(target, chunk, patienceMs)
        : this.#chain(target, chunk, patienceMs));
      done += stored;
      lates = failure?.kind === 'late' ? lates + 1 : 0;
      if (failure === undefined) {
        if (told) logger.info('NATS takes records again', { stream: target.stream });
        told = false;
        failures = 0;
      } else if (failure.kind === 'duplicates') {
        carefulUntil = done + chunk.length;
      } else if (failure.kind === 'gone' || failure.kind === 'refused') {
        tell(failure.reason);
        await this.#pause(target, failure, failures++);
      } else if (lates >= latesUntilTold) {
        tell(`${failure.reason}; the server's log may say why, such as a full disk`);
      }
      // Out of turn, late or cut off: what was not stored is sent again at once, or when the server is back.
    }
  }

  close(): void {
    this.#closing.abort();
    this.#acks.close();
  }

  #chain({ subject }: PublishTarget, records: readonly BusRecord[], patienceMs: number): Promise<Answer> {
    return this.#acks.expect(records.length, patienceMs, (reply) => {
      let last = '';
      for (const [index, record] of records.entries()) {
        const headers = recordHeaders(record);
        if (index > 0) headers.set('Nats-Expected-Last-Msg-Id', last);
        last = headers.get(idHeader);
        this.#link.nc.publish(subject, record.payload, { headers, reply: reply(index) });
      }
    });
  }

  async #batch({ subject }: PublishTarget, records: readonly BusRecord[], patienceMs: number): Promise<Answer> {
    const id = nuid.next();
    const answer = await this.#acks.expect(1, patienceMs, (reply) => {
      for (const [index, record] of records.entries()) {
        const headers = recordHeaders(record);
        headers.set('Nats-Batch-Id', id);
        headers.set('Nats-Batch-Sequence', String(index + 1));
        const last = index === records.length - 1;
        if (last) headers.set('Nats-Batch-Commit', '1');
        this.#link.nc.publish(subject, record.payload, { headers, ...(last && { reply: reply(0) }) });
      }
    });
    return answer.stored === 1 ? { stored: records.length } : answer;
  }

  async #pause(target: PublishTarget, failure: Failure, failures: number): Promise<void> {
    const { logger, clock, random } = this.#ports;
    if (failure.kind === 'gone') {
      await target.restore().catch((error: unknown) => {
        logger.warn('a stream is gone and could not be made again', { stream: target.stream, error });
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
