import type { Bus, PartitionReader } from '@sluice/bus';
import {
  type ClusterReader,
  type ClusterWriter,
  chainReader,
  chainWriter,
  mapWatch,
  type WatchStream,
} from '@sluice/kubernetes';
import { type Cancel, type Clock, type Random, randomInteger, sleep } from '@sluice/runtime';
import type { Leases, Store } from '@sluice/store';

export interface SimulationPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Called before each use of a port by any process; may throw. */
  readonly onCall: () => void;
}

/**
 * A process as seen by its ports. It can be frozen at any point and thawed, or killed, which is a permanent freeze.
 * Requests already sent are executed; their responses wait.
 */
export class SimulatedProcess {
  readonly #ports: SimulationPorts;
  #frozen: PromiseWithResolvers<void> | undefined;
  #dead = false;

  constructor(ports: SimulationPorts) {
    this.#ports = ports;
  }

  freeze(): void {
    this.#frozen ??= Promise.withResolvers();
  }

  kill(): void {
    this.freeze();
    this.#dead = true;
  }

  thaw(): void {
    if (this.#dead) return;
    this.#frozen?.resolve();
    this.#frozen = undefined;
  }

  get clock(): Clock {
    const { clock } = this.#ports;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      schedule: (delayMs, callback): Cancel => {
        let cancelled = false;
        const run = async () => {
          await this.#awake();
          if (!cancelled) callback();
        };
        const cancel = clock.schedule(delayMs, () => {
          if (this.#frozen === undefined) callback();
          else void run();
        });
        return () => {
          cancelled = true;
          cancel();
        };
      },
    };
  }

  bus(bus: Bus): Bus {
    return {
      partitions: bus.partitions,
      limits: bus.limits,
      append: (...args) => this.#call(() => bus.append(...args)),
      beginning: (...args) => this.#call(() => bus.beginning(...args)),
      end: (...args) => this.#call(() => bus.end(...args)),
      close: () => Promise.resolve(),
      read: (...args): PartitionReader => {
        const reader = bus.read(...args);
        return {
          streamId: reader.streamId,
          next: (max) => this.#call(() => reader.next(max)),
          release: (offset) => reader.release(offset),
          close: () => reader.close(),
        };
      },
    };
  }

  store(store: Store): Store {
    return {
      claim: (...args) => this.#call(() => store.claim(...args)),
      commit: (...args) => this.#call(() => store.commit(...args)),
      find: (...args) => this.#call(() => store.find(...args)),
      setIfAbsent: (...args) => this.#call(() => store.setIfAbsent(...args)),
      checkpoint: (...args) => this.#call(() => store.checkpoint(...args)),
    };
  }

  leases(leases: Leases): Leases {
    return {
      heartbeat: (...args) => this.#call(() => leases.heartbeat(...args)),
      leave: (...args) => this.#call(() => leases.leave(...args)),
      state: (...args) => this.#call(() => leases.state(...args)),
      watch: (group, onChange) => leases.watch(group, () => void this.#awake().then(onChange)),
    };
  }

  reader(reader: ClusterReader): ClusterReader {
    return chainReader(reader, async (request, next) => {
      if (request.verb !== 'watch') return this.#call(() => next(request));
      return mapWatch(request, await next(request), (stream) => this.#whileAwake(stream));
    });
  }

  writer(writer: ClusterWriter): ClusterWriter {
    return chainWriter(writer, (request, next) => this.#send(() => next(request)));
  }

  async *#whileAwake(stream: WatchStream): WatchStream {
    for await (const events of stream) {
      await this.#awake();
      yield events;
    }
  }

  async #call<T>(send: () => Promise<T>): Promise<T> {
    await this.#way();
    return this.#send(send);
  }

  /** Starts immediately: a request that has left the process is executed even if the process freezes. */
  async #send<T>(send: () => Promise<T>): Promise<T> {
    this.#ports.onCall();
    try {
      return await send();
    } finally {
      await this.#way();
    }
  }

  /** Network latency, which is often zero. */
  async #way(): Promise<void> {
    const { clock, random } = this.#ports;
    if (random.next() < 0.5) await sleep(clock, randomInteger(random, 1, 5));
    await this.#awake();
  }

  async #awake(): Promise<void> {
    while (this.#frozen !== undefined) await this.#frozen.promise;
  }
}
