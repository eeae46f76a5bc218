import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import {
  type AppendedOffsets,
  appendAcceptable,
  type Bus,
  BusClosedError,
  type BusLimits,
  type BusRecord,
  isLogTruncatedError,
  largestMessageBytes,
  oversizedPayload,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '../index.ts';
import { type NatsLink, openLink } from './link.ts';
import { inboxPrefix, type JetStreamBusOptions, type JetStreamBusPorts, type Settings, settings } from './options.ts';
import { JetStreamReader } from './partition-reader.ts';
import { Publisher, type PublishTarget } from './publisher.ts';
import { SilenceWatch } from './pull-session.ts';
import { type LogName, streamName, subjectName } from './stream-config.ts';
import { ensureStream, prepareStreams } from './streams.ts';
import { endOfStream, startOfStream, streamResult } from './verify-offset.ts';

/**
 * Connects to NATS, creates missing streams and checks existing ones.
 *
 * @param allowed no stream is created before it resolves; if it rejects, Sluice neither stays connected nor retries
 * @throws BusSetupError see BusSetupCode
 */
export async function connectJetStreamBus(
  options: JetStreamBusOptions,
  ports: JetStreamBusPorts,
  allowed?: Promise<void>,
): Promise<Bus> {
  const all = settings(options);
  const refused = new AbortController();
  allowed?.catch((error: unknown) => refused.abort(error));
  const link = await openLink(all, ports, refused.signal);
  try {
    await allowed;
  } catch (error) {
    await link.close();
    throw error;
  }
  return openJetStreamBus(link, all, ports);
}

/**
 * Creates missing streams and checks existing ones. Closes the link if that fails.
 *
 * @throws BusSetupError
 */
export async function openJetStreamBus(link: NatsLink, all: Settings, ports: JetStreamBusPorts): Promise<Bus> {
  try {
    const jsm = await jetstreamManager(link.nc, { checkAPI: false });
    await prepareStreams(link, jsm, all, ports);
    return new JetStreamBus(link, jsm, all, ports);
  } catch (error) {
    await link.close();
    throw error;
  }
}

/**
 * Time between heartbeats of an idle consumer, in milliseconds. A consumer of a replicated stream can end with a server to which
 * this process is not connected, so its loss must be noticed soon. Otherwise a lost connection or stream ends it, which is noticed.
 */
const heartbeatMs = (replicas: number) => (replicas > 1 ? 3_000 : 10_000);

/** Part of `max_payload` that is kept for headers. */
const headerReserve = 4096;

/** The bus on NATS JetStream: one stream per partition of a topic, so the stream sequence is `Delivery.offset`. */
class JetStreamBus implements Bus {
  readonly partitions: number;
  readonly #link: NatsLink;
  readonly #jsm: JetStreamManager;
  readonly #settings: Settings;
  readonly #ports: JetStreamBusPorts;
  readonly #publisher: Publisher;
  readonly #silence: SilenceWatch;
  readonly #readers = new Set<PartitionReader>();

  constructor(link: NatsLink, jsm: JetStreamManager, all: Settings, ports: JetStreamBusPorts) {
    this.partitions = all.partitions;
    this.#link = link;
    this.#jsm = jsm;
    this.#settings = all;
    this.#ports = ports;
    this.#publisher = new Publisher(link, inboxPrefix(all), ports);
    this.#silence = new SilenceWatch(ports.clock, heartbeatMs(all.replicas));
  }

  get limits(): BusLimits {
    const { changes, mutations } = this.#settings.maxBytes;
    return {
      recordBytes: Math.max(1, this.#link.maxPayload - headerReserve),
      messageBytes: Math.min(largestMessageBytes, Math.floor(Math.min(changes, mutations) / 2)),
    };
  }

  get connected(): boolean {
    return this.#link.up;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    if (this.#link.closed) throw new BusClosedError('the bus is closed');
    const target = this.#target(this.#log(topic, partition));
    return await appendAcceptable(records, oversizedPayload(this.limits.recordBytes), (accepted) =>
      this.#publisher.append(target, accepted),
    );
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const log = this.#log(topic, partition);
    const target = {
      stream: streamName(this.#settings.fleet, log),
      subject: subjectName(this.#settings.fleet, log),
      inboxPrefix: inboxPrefix(this.#settings),
    };
    const ports = { ...this.#ports, silence: this.#silence };
    const reader: PartitionReader = new JetStreamReader(this.#link, this.#jsm, target, after, ports, () => {
      this.#readers.delete(reader);
    });
    this.#readers.add(reader);
    if (this.#link.closed) reader.close();
    return reader;
  }

  beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.#streamOffset(topic, partition, startOfStream);
  }

  end(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.#streamOffset(topic, partition, endOfStream);
  }

  async close(): Promise<void> {
    if (this.#link.closed) return;
    for (const reader of [...this.#readers]) reader.close();
    const closed = this.#link.close();
    this.#publisher.close();
    await closed;
  }

  #log(topic: Topic, partition: number): LogName {
    const count = topic === 'requests' ? 1 : this.partitions;
    if (!Number.isInteger(partition) || partition < 0 || partition >= count) {
      throw new RangeError(`partition ${partition} of ${topic} is not within 0..${count - 1}`);
    }
    return { topic, partition };
  }

  /** Creates the stream first if it is missing. */
  async #streamOffset(
    topic: Topic,
    partition: number,
    read: (jsm: JetStreamManager, stream: string, subject: string) => Promise<StreamOffset>,
  ): Promise<StreamOffset> {
    const log = this.#log(topic, partition);
    const stream = streamName(this.#settings.fleet, log);
    for (;;) {
      await this.#link.whenUp();
      if (this.#link.closed) throw new BusClosedError('the bus is closed');
      // A request that was sent before never gets its answer.
      const lost = Promise.withResolvers<never>();
      let isLost = false;
      const stop = this.#link.onDown(() => {
        isLost = true;
        lost.reject(new Error('the connection was lost'));
      });
      try {
        const answer = read(this.#jsm, stream, subjectName(this.#settings.fleet, log));
        return await streamResult(stream, Promise.race([answer, lost.promise]));
      } catch (error) {
        if (this.#link.closed) throw new BusClosedError('the bus is closed');
        if (isLogTruncatedError(error)) await this.#createStream(log);
        else if (this.#link.up && !isLost) throw error;
      } finally {
        stop();
      }
    }
  }

  #target(log: LogName): PublishTarget {
    const { fleet } = this.#settings;
    return {
      stream: streamName(fleet, log),
      subject: subjectName(fleet, log),
      createStream: () => this.#createStream(log),
    };
  }

  async #createStream(log: LogName): Promise<void> {
    await ensureStream(this.#jsm, this.#settings, log);
  }
}
