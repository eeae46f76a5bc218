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
  /** The store is about to forget everything. */
  readonly onWipe: () => void;
  /** A process did not end within 20 s when it was told to. */
  readonly onLate: (name: string) => void;
}

/** Does to the fleet what a schedule says. */
export class Faults {
  readonly #options: FaultOptions;
  #snapshot: string | undefined;

  constructor(options: FaultOptions) {
    this.#options = options;
  }

  /** Resolves when it is done: what was killed runs again, what was frozen goes on. */
  carryOut({ kind, target: name, chance }: Action, begun: () => void): Promise<void> {
    const { fleet } = this.#options;
    const target = fleet.targets.get(name);
    if (target === undefined) throw new RangeError(`no process ${name}`);
    const random = seededRandom(Math.floor(chance * 2 ** 31));
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
        case 'old snapshot':
          return this.#oldSnapshot();
        case 'purge':
          return this.#purge(random);
        case 'lose the last records':
          return this.#loseLast(target, randomInteger(random, 500, 2_000));
        case 'outlast the duplicate window':
          return this.#kill(target, duplicateWindowMs + 500);
      }
      throw new RangeError(`nobody knows how to ${kind}`);
    });
  }

  /** For a later restart from it. */
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
    target.hold();
    await sleep(freezeMs);
    target.release();
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

  /** One log, the logs of a topic, or all of them. */
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
        // A broker that has just come back knows its topics only a moment later, and a client remembers that it did not.
        await eventually(() => deleteRecords(bus.server.broker, `${fleet.fleet}.${topic}`, partitions));
      }
    });
  }

  /** As a crash of the machine would, had it not waited for its disk: back to what was there so long before. */
  async #loseLast(target: Target, forMs: number): Promise<void> {
    const { fleet, observer } = this.#options;
    const { kind, server } = fleet.bus;
    const data = kind === 'nats' ? join(server.directory, 'data') : server.data;
    const earlier = join(server.directory, 'earlier');
    await rm(earlier, { recursive: true, force: true });
    target.hold();
    try {
      await cp(data, earlier, { recursive: true });
    } finally {
      target.release();
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

  /** On a bus whose observer reads what is stored: nothing may be stored that it has not read, and then be gone. */
  async #whileHeld(act: () => Promise<void>): Promise<void> {
    const { fleet, observer } = this.#options;
    for (const role of fleet.roles) role.hold();
    try {
      await observer.caughtUp();
      await act();
      await observer.caughtUp();
    } finally {
      for (const role of fleet.roles) role.release();
    }
  }
}

/** Tries again for up to half a minute. Throws what the last try threw. */
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
