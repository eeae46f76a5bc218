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

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** How long a process tries to connect, in milliseconds. */
const connectTimeoutMs = 1_000;

/** Servers that a process talks to. */
export type Peer = 'bus' | 'store' | 'cluster';

/** Extra latency of a link in each direction, in milliseconds. */
export interface Link {
  readonly requestMs: number;
  readonly responseMs: number;
}

export interface SimulationPorts {
  readonly clock: Clock;
  /** Origin of the monotonic clock of the process, which differs between processes. */
  readonly originMs: number;
  readonly random: Random;
  /** Called before each use of a port by any process; may throw. */
  readonly onCall: () => void;
  /** Whether the process ends before or after the side effect that it is about to have. */
  readonly atEffect?: () => 'before' | 'after' | undefined;
  /** Called when it has ended there. */
  readonly onEnd?: () => void;
}

/**
 * A process as seen by its ports. It can be frozen at any point and thawed, or killed, which is a permanent freeze.
 * Requests already sent are executed; their responses wait.
 */
export class SimulatedProcess {
  readonly #ports: SimulationPorts;
  #frozen: PromiseWithResolvers<void> | undefined;
  #dead = false;
  /** How far the system clock of the process is ahead, in milliseconds. */
  #wallOffsetMs = 0;
  /** How long the virtual machine has been paused in all, which its monotonic clock does not count. */
  #pausedMs = 0;
  #pausedAt: number | undefined;
  readonly #links = new Map<Peer, Link>();
  readonly #cutOff = new Set<Peer>();
  #watchLagMs = 0;

  constructor(ports: SimulationPorts) {
    this.#ports = ports;
  }

  freeze(): void {
    this.#frozen ??= Promise.withResolvers();
  }

  /** Freezes the whole virtual machine: its monotonic clock stops as well. */
  pause(): void {
    this.freeze();
    this.#pausedAt ??= this.#ports.clock.monotonic();
  }

  /** Sets the system clock of the process ahead, or back. */
  stepClock(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  setLink(peer: Peer, link: Link | undefined): void {
    if (link === undefined) this.#links.delete(peer);
    else this.#links.set(peer, link);
  }

  /** From now on no request reaches the peer. */
  cutOff(peer: Peer): void {
    this.#cutOff.add(peer);
  }

  isCutOff(peer: Peer): boolean {
    return this.#cutOff.has(peer);
  }

  /** Delays every batch of watch events by this much. */
  setWatchLag(ms: number): void {
    this.#watchLagMs = ms;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  kill(): void {
    this.freeze();
    this.#dead = true;
  }

  thaw(): void {
    if (this.#dead) return;
    if (this.#pausedAt !== undefined) this.#pausedMs += this.#ports.clock.monotonic() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#frozen?.resolve();
    this.#frozen = undefined;
  }

  get clock(): Clock {
    const { clock, originMs } = this.#ports;
    return {
      now: () => clock.now() + this.#wallOffsetMs,
      monotonic: () => (this.#pausedAt ?? clock.monotonic()) - this.#pausedMs - originMs,
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
      append: (...args) =>
        this.#effect(
          (send) => this.#call('bus', send),
          () => bus.append(...args),
        ),
      beginning: (...args) => this.#call('bus', () => bus.beginning(...args)),
      end: (...args) => this.#call('bus', () => bus.end(...args)),
      close: () => Promise.resolve(),
      read: (...args): PartitionReader => {
        const reader = bus.read(...args);
        return {
          streamId: reader.streamId,
          next: (max) => this.#call('bus', () => reader.next(max)),
          release: (offset) => reader.release(offset),
          close: () => reader.close(),
        };
      },
    };
  }

  store(store: Store): Store {
    return {
      claim: (...args) =>
        this.#effect(
          (send) => this.#call('store', send),
          () => store.claim(...args),
        ),
      commit: (...args) =>
        this.#effect(
          (send) => this.#call('store', send),
          () => store.commit(...args),
        ),
      find: (...args) => this.#call('store', () => store.find(...args)),
      setIfAbsent: (...args) => this.#call('store', () => store.setIfAbsent(...args)),
      checkpoint: (...args) => this.#call('store', () => store.checkpoint(...args)),
    };
  }

  leases(leases: Leases): Leases {
    return {
      heartbeat: (...args) => this.#call('store', () => leases.heartbeat(...args)),
      leave: (...args) => this.#call('store', () => leases.leave(...args)),
      state: (...args) => this.#call('store', () => leases.state(...args)),
      watch: (group, onChange) => leases.watch(group, () => void this.#awake().then(onChange)),
    };
  }

  reader(reader: ClusterReader): ClusterReader {
    return chainReader(reader, async (request, next) => {
      if (request.verb !== 'watch') return this.#call('cluster', () => next(request));
      return mapWatch(request, await next(request), (stream) => this.#whileAwake(stream));
    });
  }

  writer(writer: ClusterWriter): ClusterWriter {
    return chainWriter(writer, (request, next) => {
      const send = () => this.#send('cluster', () => next(request));
      return writeVerbs.has(request.verb) ? this.#effect((act) => act(), send) : send();
    });
  }

  async *#whileAwake(stream: WatchStream): WatchStream {
    for await (const events of stream) {
      if (this.#watchLagMs > 0) await sleep(this.#ports.clock, this.#watchLagMs);
      await this.#awake();
      yield events;
    }
  }

  /** A request that changes something. The process may end before it is sent, or before its response arrives. */
  async #effect<T>(call: (send: () => Promise<T>) => Promise<T>, send: () => Promise<T>): Promise<T> {
    const ends = this.#ports.atEffect?.();
    if (ends === 'before') {
      this.#end();
      await this.#awake();
    }
    return call(async () => {
      const response = await send();
      if (ends === 'after') this.#end();
      return response;
    });
  }

  #end(): void {
    this.kill();
    this.#ports.onEnd?.();
  }

  async #call<T>(peer: Peer, send: () => Promise<T>): Promise<T> {
    await this.#way(this.#links.get(peer)?.requestMs ?? 0);
    return this.#send(peer, send);
  }

  /** Starts immediately: a request that has left the process is executed even if the process freezes. */
  async #send<T>(peer: Peer, send: () => Promise<T>): Promise<T> {
    this.#ports.onCall();
    try {
      if (this.#cutOff.has(peer)) {
        await sleep(this.#ports.clock, connectTimeoutMs);
        throw new Error(`injected: no connection to the ${peer}`);
      }
      return await send();
    } finally {
      await this.#way(this.#links.get(peer)?.responseMs ?? 0);
    }
  }

  /** Network latency, which is often zero. The seed thereby picks which pending answer arrives next. */
  async #way(extraMs: number): Promise<void> {
    const { clock, random } = this.#ports;
    const jitterMs = random.next() < 0.5 ? randomInteger(random, 1, 5) : 0;
    if (jitterMs + extraMs > 0) await sleep(clock, jitterMs + extraMs);
    await this.#awake();
  }

  async #awake(): Promise<void> {
    while (this.#frozen !== undefined) await this.#frozen.promise;
  }
}
