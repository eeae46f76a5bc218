import { type Bus, ForwardingBus, type Topic } from '@sluice/bus';
import { MemoryNats, memoryJetStreamBus } from '@sluice/bus/jetstream/testing';
import { type Clock, type Random, silentLogger } from '@sluice/platform';
import type { SimulatedBus, SimulatedLog } from './simulated-bus.ts';

export interface JetStreamOptions {
  readonly partitions: number;
  readonly replicas: number;
  readonly recordBytes: number | null;
  readonly clock: Clock;
  readonly random: Random;
}

/** Part of the largest message that the adapter keeps for headers, in bytes. */
const headerReserve = 4_096;

/** The production adapter for JetStream, on a server in this process. */
export class JetStreamBusDouble extends ForwardingBus implements SimulatedBus {
  readonly #nats: MemoryNats;
  readonly #faults: { probability: number };

  static async start({ partitions, replicas, recordBytes, clock, random }: JetStreamOptions): Promise<SimulatedBus> {
    const faults = { probability: 0 };
    const nats = new MemoryNats(clock, () => faults.probability > 0 && random.next() < faults.probability);
    const limit = recordBytes === null ? {} : { maxPayload: recordBytes + headerReserve };
    const bus = await memoryJetStreamBus(
      { nats, partitions, replicas, ...limit },
      { clock, random, logger: silentLogger },
    );
    return new JetStreamBusDouble(bus, nats, faults);
  }

  private constructor(bus: Bus, nats: MemoryNats, faults: { probability: number }) {
    super(bus);
    this.#nats = nats;
    this.#faults = faults;
  }

  breakConnections(probability: number): void {
    this.#faults.probability = probability;
  }

  log(topic: Topic, partition: number): SimulatedLog {
    const name = `sluice-${topic}-${partition}`;
    // Requests have one partition only.
    const stream = () => this.#nats.stream(name);
    return {
      get last() {
        return stream()?.lastRecord;
      },
      end: () => ({ offset: stream()?.state.last_seq ?? 0 }),
      purge: () => stream()?.purge(),
      recreate: () => this.#nats.recreate(name),
      startAt: (offset) => stream()?.load({ messages: [], last: offset, ids: new Map() }),
      limitBytes: (bytes) => stream()?.limitBytes(bytes),
      loseLast: (count) => {
        stream()?.loseLast(count);
        // A server that loses what it has acknowledged was restarted.
        this.#nats.kill();
        this.#nats.start();
      },
    };
  }
}
