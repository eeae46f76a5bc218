import type { Clock, Logger } from '@sluice/platform';
import type { AppendedOffsets, Bus, BusRecord, Topic } from './bus.ts';
import { ChunkedBus } from './chunked-bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { isRecordRejectedError, markRejected, rejectionOf } from './rejected-record.ts';

/**
 * A bus on which no record stops those after it. A marker replaces a record that the bus can never store. Readers
 * dead-letter the marker and have the Service resynced or its plan redelivered (ADR 0083).
 */
export class RejectedRecordsBus extends ForwardingBus {
  readonly #logger: Logger;

  constructor(inner: Bus, { logger }: { readonly logger: Logger }) {
    super(inner);
    this.#logger = logger;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const offsets: number[] = [];
    for (let rest = records; ; ) {
      const { recordBytes } = this.limits;
      try {
        const appended = await this.inner.append(topic, partition, rest);
        return appended && [...offsets, ...appended];
      } catch (error) {
        if (!isRecordRejectedError(error)) throw error;
        rest = rest.slice(error.offsets.length);
        offsets.push(...error.offsets);
        const [rejected, ...others] = rest;
        if (rejected === undefined || rejectionOf(rejected) !== undefined) throw error;
        // The bus has just learned of a lower limit, and splits the record accordingly.
        if (this.limits.recordBytes < recordBytes) continue;
        const marker = markRejected(rejected, error.message);
        const { key, id } = marker;
        this.#logger.error('bus rejected record', { topic, partition, key, id, reason: error.message });
        rest = [marker, ...others];
      }
    }
  }
}

/** A bus of servers, for messages of any size: split into records that fit, or replaced by a marker. */
export function networkedBus(bus: Bus, ports: { readonly clock: Clock; readonly logger: Logger }): Bus {
  return new RejectedRecordsBus(new ChunkedBus(bus, ports), ports);
}
