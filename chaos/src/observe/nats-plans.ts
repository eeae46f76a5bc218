import { setTimeout as sleep } from 'node:timers/promises';
import { DeliverPolicy, type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { toDelivery } from '@sluice/bus/jetstream';
import { type OnPlan, PlanAssembler, type PlanObserver } from './plan-observer.ts';

export interface NatsPlansOptions {
  /** All servers. Each is observed, because one that is killed or frozen may not pass on what others know. */
  readonly urls: readonly string[];
  readonly fleet: string;
  readonly partitions: number;
  readonly onPlan: OnPlan;
}

/** Messages published shortly before a disconnect may not have arrived. */
const overlapMs = 5_000;
const batch = 500;

/**
 * Observes plans by subscribing to the subject, so that no loss in a stream hides them. After a reconnect, plans
 * published meanwhile are read from the streams.
 */
export async function followNatsPlans(options: NatsPlansOptions): Promise<PlanObserver> {
  const observers = await Promise.all(options.urls.map((url) => followServer(url, options)));
  return {
    async caughtUp() {
      await Promise.all(observers.map((each) => each.caughtUp()));
    },
    async close() {
      await Promise.all(observers.map((each) => each.close()));
    },
  };
}

async function followServer(url: string, options: NatsPlansOptions): Promise<PlanObserver> {
  const connection = await connect({
    servers: [url],
    ignoreClusterUpdates: true,
    name: 'chaos-observer',
    maxReconnectAttempts: -1,
    reconnectTimeWait: 20,
    reconnectJitter: 0,
    pingInterval: 1_000,
    maxPingOut: 2,
  });
  const { fleet, partitions, onPlan } = options;
  for (let partition = 0; partition < partitions; partition++) {
    const plans = new PlanAssembler(onPlan);
    connection.subscribe(`${fleet}.mutations.${partition}`, {
      callback: (error, { headers, data }) => {
        if (error === null) plans.add(toDelivery(0, headers, data));
      },
    });
  }
  return new NatsPlans(connection, options);
}

class NatsPlans implements PlanObserver {
  readonly #connection: NatsConnection;
  readonly #options: NatsPlansOptions;
  readonly #watching: Promise<void>;
  /** Time from which the streams must be read. */
  #missedSince: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(connection: NatsConnection, options: NatsPlansOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#watching = this.#watch();
  }

  async caughtUp(): Promise<void> {
    for (;;) {
      await this.#reading;
      if (this.#connection.isClosed()) return;
      try {
        // The response arrives after everything the server has sent so far.
        await this.#connection.flush();
        if (this.#missedSince === undefined) return;
        this.#read();
      } catch {
        await sleep(20);
      }
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await this.#watching;
    await this.#reading;
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#missedSince ??= Date.now() - overlapMs;
      if (type === 'reconnect') {
        this.#missedSince ??= Date.now() - overlapMs;
        this.#read();
      }
    }
  }

  #read(): void {
    this.#reading ??= this.#readMissed().finally(() => {
      this.#reading = undefined;
    });
  }

  async #readMissed(): Promise<void> {
    const since = this.#missedSince;
    if (since === undefined) return;
    this.#missedSince = undefined;
    try {
      const client = jetstream(this.#connection, { timeout: 3_000 });
      const partitions = Array.from({ length: this.#options.partitions }, (_, partition) => partition);
      await Promise.all(partitions.map((partition) => this.#readPartition(client, partition, since)));
    } catch {
      // Disconnected again, or JetStream is not ready. The caller retries.
      this.#missedSince = Math.min(since, this.#missedSince ?? since);
      await sleep(50);
    }
  }

  async #readPartition(client: JetStreamClient, partition: number, since: number): Promise<void> {
    const stream = `${this.#options.fleet}-mutations-${partition}`;
    const manager = await jetstreamManager(this.#connection, { timeout: 3_000, checkAPI: false });
    const { state } = await manager.streams.info(stream);
    if (state.messages === 0 || Date.parse(state.last_ts) < since) return;
    const consumer = await client.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(since).toISOString(),
    });
    const plans = new PlanAssembler(this.#options.onPlan);
    for (;;) {
      let last: { readonly seq: number; readonly pending: number } | undefined;
      for await (const message of await consumer.fetch({ max_messages: batch, expires: 1_000 })) {
        plans.add(toDelivery(message.seq, message.headers, message.data));
        last = { seq: message.seq, pending: message.info.pending };
        if (last.pending === 0) break;
      }
      if (last === undefined || last.pending === 0) return;
    }
  }
}
