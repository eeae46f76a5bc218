import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Random, randomInteger, seededRandom } from '@sluice/runtime';
import kafkajs from 'kafkajs';
import type { PlanObserver } from '../observe/plan-observer.ts';
import type { Action } from '../schedule.ts';
import { duplicateWindowMs, type Fleet } from './start-fleet.ts';
import type { Target } from './target.ts';

export const freezeMs = 4_000;
const graceMs = 20_000;
const topics = ['changes', 'mutations', 'requests'] as const;

export interface FaultOptions {
  readonly fleet: Fleet;
  readonly observer: PlanObserver;
  /** Called before the store is wiped. */
  readonly onWipe: () => void;
  /** Called when a process does not exit within 20 s of SIGTERM. */
  readonly onLate: (name: string) => void;
}

/** Injects the faults of a schedule. */
export class Faults {
  readonly #options: FaultOptions;
  #snapshot: string | undefined;

  constructor(options: FaultOptions) {
    this.#options = options;
  }

  /** Resolves when the action is complete: a killed process runs again, a frozen one has resumed. */
  perform({ kind, target: name, random: seed }: Action, begun: () => void): Promise<void> {
    const { fleet } = this.#options;
    const target = fleet.targets.get(name);
    if (target === undefined) throw new RangeError(`unknown process ${name}`);
    const random = seededRandom(Math.floor(seed * 2 ** 31));
    const what = kind.slice(0, kind.lastIndexOf(' '));
    return target.enqueue(async () => {
      begun();
      switch (what) {
        case 'kill':
          return this.#kill(target, randomInteger(random, 200, 1_500));
        case 'freeze':
          return this.#freeze(target);
        case 'restart':
          return this.#restart(target);
        case 'wipe':
          this.#options.onWipe();
          return fleet.redis.restore(undefined);
        case 'restore snapshot':
          return this.#oldSnapshot();
        case 'purge':
          return this.#purge(random);
        case 'lose last records':
          return this.#loseLast(target, randomInteger(random, 500, 2_000));
        case 'outlast duplicate window':
          return this.#kill(target, duplicateWindowMs + 500);
      }
      throw new RangeError(`unknown action ${kind}`);
    });
  }

  /** Takes a snapshot of the store to restore later. */
  takeSnapshot(): Promise<void> {
    const { fleet } = this.#options;
    const store = fleet.targets.get('store');
    return (
      store?.enqueue(async () => {
        const old = this.#snapshot;
        this.#snapshot = await fleet.redis.snapshot();
        if (old !== undefined) await rm(old, { recursive: true, force: true });
      }) ?? Promise.resolve()
    );
  }

  async #kill(target: Target, awayMs: number): Promise<void> {
    await target.process.kill();
    await sleep(awayMs);
    await target.start();
  }

  async #freeze(target: Target): Promise<void> {
    target.pause();
    await sleep(freezeMs);
    target.resume();
  }

  async #restart(target: Target): Promise<void> {
    if (!(await target.stop(graceMs))) this.#options.onLate(target.name);
    await target.start();
  }

  async #oldSnapshot(): Promise<void> {
    const { redis } = this.#options.fleet;
    this.#snapshot ??= await redis.snapshot();
    await redis.restore(this.#snapshot);
  }

  /** Purges one partition, one topic or everything. */
  async #purge(random: Random): Promise<void> {
    const { fleet, observer } = this.#options;
    const topic = random.next() < 0.7 ? topics[randomInteger(random, 0, topics.length - 1)] : undefined;
    const only = random.next() < 0.5 ? randomInteger(random, 0, fleet.partitions - 1) : undefined;
    const logs = topics
      .filter((each) => topic === undefined || each === topic)
      .flatMap((each) =>
        Array.from({ length: each === 'requests' ? 1 : fleet.partitions }, (_, partition) => ({
          topic: each,
          partition,
        })),
      )
      .filter(({ partition }) => only === undefined || partition === only);
    await observer.caughtUp();
    const { bus } = fleet;
    if (bus.kind === 'nats') {
      const connection = await connect({ servers: [bus.server.url], timeout: 10_000 });
      try {
        const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 10_000 });
        await Promise.all(
          logs.map(({ topic, partition }) => manager.streams.purge(`${fleet.fleet}-${topic}-${partition}`)),
        );
      } finally {
        await connection.close();
      }
      return;
    }
    await this.#whileHeld(async () => {
      for (const topic of new Set(logs.map((log) => log.topic))) {
        const partitions = logs
          .filter((log) => log.topic === topic)
          .map(({ partition }) => ({ partition, offset: '-1' }));
        // A broker that has just restarted learns its topics with a delay, and a client caches that they were missing.
        await eventually(() => deleteRecords(bus.server.broker, `${fleet.fleet}.${topic}`, partitions));
      }
    });
  }

  /** Simulates a crash before the disk was synced: restores the data from `forMs` ago. */
  async #loseLast(target: Target, forMs: number): Promise<void> {
    const { fleet, observer } = this.#options;
    const { kind, server } = fleet.bus;
    const data = kind === 'nats' ? join(server.directory, 'data') : server.data;
    const earlier = join(server.directory, 'earlier');
    await rm(earlier, { recursive: true, force: true });
    target.pause();
    try {
      await cp(data, earlier, { recursive: true });
    } finally {
      target.resume();
    }
    await sleep(forMs);
    await observer.caughtUp();
    const rewind = async () => {
      await target.process.kill();
      await rm(data, { recursive: true, force: true });
      await cp(earlier, data, { recursive: true });
      await target.start();
    };
    await (kind === 'nats' ? rewind() : this.#whileHeld(rewind));
  }

  /**
   * For a bus whose observer reads stored records: pauses the fleet so that no record is lost before the observer has
   * read it.
   */
  async #whileHeld(act: () => Promise<void>): Promise<void> {
    const { fleet, observer } = this.#options;
    for (const role of fleet.roles) role.pause();
    try {
      await observer.caughtUp();
      await act();
      await observer.caughtUp();
    } finally {
      for (const role of fleet.roles) role.resume();
    }
  }
}

/** Retries for up to 30 s, then rethrows the last error. */
async function eventually(act: () => Promise<void>): Promise<void> {
  const late = performance.now() + 30_000;
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
  broker: string,
  topic: string,
  partitions: { readonly partition: number; readonly offset: string }[],
): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.deleteTopicRecords({ topic, partitions });
  } finally {
    await admin.disconnect();
  }
}
