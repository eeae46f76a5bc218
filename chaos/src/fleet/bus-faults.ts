import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type Random, randomInteger } from '@sluice/platform';
import kafkajs from 'kafkajs';
import type { PlanObserver } from '../observe/plan-observer.ts';
import { type BusNode, duplicateWindowMs } from './bus-servers.ts';
import type { Fleet } from './start-fleet.ts';

const topics = ['changes', 'mutations', 'requests'] as const;

interface Log {
  readonly topic: (typeof topics)[number];
  readonly partition: number;
}

/** Data losses of the bus, and faults of all its servers together. No other fault affects its servers meanwhile. */
export class BusFaults {
  readonly #fleet: Fleet;
  readonly #observer: PlanObserver;

  constructor(fleet: Fleet, observer: PlanObserver) {
    this.#fleet = fleet;
    this.#observer = observer;
  }

  /** Purges one partition, one topic or everything. */
  async purge(random: Random): Promise<void> {
    const logs = this.#someLogs(random);
    const { bus, name } = this.#fleet;
    if (bus.kind === 'nats') {
      // A stream without a leader is purged once it has one.
      return eventually(() =>
        withNats(bus.addresses, async (_, manager) => {
          const streams = logs.map((log) => this.#stream(log));
          const ends = await Promise.all(streams.map((stream) => manager.streams.info(stream)));
          // Only what the observer has read: it may be disconnected while the machine is busy.
          await this.#observer.caughtUp();
          await Promise.all(
            streams.map((stream, i) => manager.streams.purge(stream, { seq: (ends[i]?.state.last_seq ?? 0) + 1 })),
          );
        }),
      );
    }
    await this.#observer.caughtUp();
    await this.#whilePaused(async () => {
      for (const topic of new Set(logs.map((log) => log.topic))) {
        const partitions = logs
          .filter((log) => log.topic === topic)
          .map(({ partition }) => ({ partition, offset: '-1' }));
        // A broker that has just restarted learns its topics with a delay, and a client caches that they were missing.
        await eventually(() => deleteRecords(bus.addresses, `${name}.${topic}`, partitions));
      }
    });
  }

  /**
   * Simulates a crash before the disk was synced: restores the data of some time ago. Of several servers, one crashes or
   * all at once, as without power.
   */
  async loseLastRecords(random: Random): Promise<void> {
    const { nodes, kind } = this.#fleet.bus;
    const one = nodes[randomInteger(random, 0, nodes.length - 1)];
    const some = random.next() < 0.5 || one === undefined ? nodes : [one];
    for (const { target } of some) target.pause();
    try {
      for (const node of some) await replace(earlierOf(node), node.data);
    } finally {
      for (const { target } of some) target.resume();
    }
    await sleep(randomInteger(random, 500, 2_000));
    await this.#observer.caughtUp();
    const kill = () => Promise.all(some.map(({ target }) => target.process.kill()));
    const start = () => Promise.all(some.map(({ target }) => target.start()));
    const rewind = async () => {
      await kill();
      for (const node of some) await replace(node.data, earlierOf(node));
      await start();
    };
    if (kind !== 'nats') return this.#whilePaused(rewind);
    // It may have passed its last records on to the fleet and not to the observer, which reads them from the disk before they are lost.
    await kill();
    await this.#whilePaused(rewind, start);
  }

  /** All servers are down for longer than duplicates are recognised. */
  async outlastDuplicateWindow(): Promise<void> {
    const { nodes } = this.#fleet.bus;
    await Promise.all(nodes.map(({ target }) => target.process.kill()));
    await sleep(duplicateWindowMs + 500);
    await Promise.all(nodes.map(({ target }) => target.start()));
  }

  /** Other servers lead one topic or all. */
  changeLeaders(random: Random): Promise<void> {
    const logs = this.#someLogs(random);
    return eventually(() =>
      withNats(this.#fleet.bus.addresses, async (connection) => {
        for (const log of logs) {
          const reply = await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${this.#stream(log)}`);
          const { error } = reply.json<{ error?: { description: string } }>();
          if (error !== undefined) throw new Error(`${this.#stream(log)}: ${error.description}`);
        }
      }),
    );
  }

  #someLogs(random: Random): readonly Log[] {
    const { partitions } = this.#fleet;
    const topic = random.next() < 0.7 ? topics[randomInteger(random, 0, topics.length - 1)] : undefined;
    const only = random.next() < 0.5 ? randomInteger(random, 0, partitions - 1) : undefined;
    return topics
      .filter((each) => topic === undefined || each === topic)
      .flatMap((each) =>
        Array.from({ length: each === 'requests' ? 1 : partitions }, (_, partition) => ({ topic: each, partition })),
      )
      .filter(({ partition }) => only === undefined || partition === only);
  }

  #stream({ topic, partition }: Log): string {
    return `${this.#fleet.name}-${topic}-${partition}`;
  }

  /**
   * For records that the observer reads from the bus: pauses the fleet so that none is lost before the observer has read it.
   */
  async #whilePaused(act: () => Promise<void>, prepare: () => Promise<unknown> = async () => {}): Promise<void> {
    const { roles } = this.#fleet;
    for (const { target } of roles) target.pause();
    try {
      await prepare();
      await this.#observer.caughtUp();
      await act();
      await this.#observer.caughtUp();
    } finally {
      for (const { target } of roles) target.resume();
    }
  }
}

const earlierOf = ({ directory }: BusNode): string => join(directory, 'earlier');

async function replace(to: string, from: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true });
}

async function withNats(
  servers: readonly string[],
  act: (connection: NatsConnection, manager: JetStreamManager) => Promise<void>,
): Promise<void> {
  const connection = await connect({ servers: [...servers], timeout: 10_000 });
  try {
    await act(connection, await jetstreamManager(connection, { checkAPI: false, timeout: 10_000 }));
  } finally {
    await connection.close();
  }
}

/** Retries for up to 60 s, then rethrows the last error. */
async function eventually(act: () => Promise<void>): Promise<void> {
  const late = performance.now() + 60_000;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (performance.now() > late) throw error;
      await sleep(250);
    }
  }
}

async function deleteRecords(
  brokers: readonly string[],
  topic: string,
  partitions: { readonly partition: number; readonly offset: string }[],
): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.deleteTopicRecords({ topic, partitions });
  } finally {
    await admin.disconnect();
  }
}
