import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import {
  type Bus,
  BusClosedError,
  type BusRecord,
  isLogTruncatedError,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';
import { type NatsLink, openLink } from './link.ts';
import { type JetStreamBusOptions, type JetStreamBusPorts, type Settings, settings } from './options.ts';
import { JetStreamReader } from './partition-reader.ts';
import { prepareStreams } from './prepare-streams.ts';
import { Publisher, type PublishTarget } from './publisher.ts';
import { type LogName, streamName, subjectName } from './stream-config.ts';
import { ensureStream } from './streams.ts';
import { endOfStream, ofStream, oldestOfStream } from './verify-cursor.ts';

/**
 * Connects to NATS, sees that the fleet's streams are there and fit, and returns the bus on them.
 *
 * @throws BusSetupError see its codes
 */
export async function connectJetStreamBus(options: JetStreamBusOptions, ports: JetStreamBusPorts): Promise<Bus> {
  const all = settings(options);
  const link = await openLink(all, ports);
  try {
    const jsm = await jetstreamManager(link.nc, { checkAPI: false });
    await prepareStreams(link, jsm, all, ports);
    return new JetStreamBus(link, jsm, all, ports);
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** The bus on NATS JetStream: one stream for each partition of a topic, so that its sequence is the offset. */
class JetStreamBus implements Bus {
  readonly partitions: number;
  readonly #link: NatsLink;
  readonly #jsm: JetStreamManager;
  readonly #settings: Settings;
  readonly #ports: JetStreamBusPorts;
  readonly #publisher: Publisher;
  readonly #readers = new Set<PartitionReader>();

  constructor(link: NatsLink, jsm: JetStreamManager, all: Settings, ports: JetStreamBusPorts) {
    this.partitions = all.partitions;
    this.#link = link;
    this.#jsm = jsm;
    this.#settings = all;
    this.#ports = ports;
    this.#publisher = new Publisher(link, this.#inboxPrefix, ports);
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    if (this.#link.closed) throw new BusClosedError('the bus is closed');
    await this.#publisher.append(this.#target(this.#log(topic, partition)), records);
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const target = {
      stream: streamName(this.#settings.fleet, this.#log(topic, partition)),
      inboxPrefix: this.#inboxPrefix,
    };
    const reader: PartitionReader = new JetStreamReader(this.#link, this.#jsm, target, after, this.#ports, () => {
      this.#readers.delete(reader);
    });
    this.#readers.add(reader);
    if (this.#link.closed) reader.close();
    return reader;
  }

  beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.#ask(topic, partition, oldestOfStream);
  }

  end(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.#ask(topic, partition, endOfStream);
  }

  async close(): Promise<void> {
    if (this.#link.closed) return;
    for (const reader of [...this.#readers]) reader.close();
    const closed = this.#link.close();
    this.#publisher.close();
    await closed;
  }

  get #inboxPrefix(): string {
    return `_INBOX_${this.#settings.fleet}`;
  }

  #log(topic: Topic, partition: number): LogName {
    const count = topic === 'requests' ? 1 : this.partitions;
    if (!Number.isInteger(partition) || partition < 0 || partition >= count) {
      throw new RangeError(`partition ${partition} of ${topic}: there are ${count}`);
    }
    return { topic, partition };
  }

  /** Asks for a cursor; a stream that is not there is made first. */
  async #ask(
    topic: Topic,
    partition: number,
    cursorOf: (jsm: JetStreamManager, stream: string) => Promise<StreamOffset>,
  ): Promise<StreamOffset> {
    const log = this.#log(topic, partition);
    const stream = streamName(this.#settings.fleet, log);
    for (;;) {
      await this.#link.whenUp();
      if (this.#link.closed) throw new BusClosedError('the bus is closed');
      try {
        return await ofStream(stream, cursorOf(this.#jsm, stream));
      } catch (error) {
        if (this.#link.closed) throw new BusClosedError('the bus is closed');
        if (isLogTruncatedError(error)) await this.#restore(log);
        else if (this.#link.up) throw error;
      }
    }
  }

  #target(log: LogName): PublishTarget {
    const { fleet, replicas } = this.#settings;
    return {
      stream: streamName(fleet, log),
      subject: subjectName(fleet, log),
      replicas,
      restore: () => this.#restore(log),
    };
  }

  async #restore(log: LogName): Promise<void> {
    await ensureStream(this.#jsm, this.#settings, log);
  }
}
