import type { Bus, PartitionReader } from '@sluice/bus';
import {
  ApiError,
  type ClusterReader,
  type ClusterWriter,
  chainReader,
  chainWriter,
  mapWatch,
  type WatchStream,
} from '@sluice/kubernetes';
import { aborted, type Cancel, type Clock, type Random, randomInteger, sleep } from '@sluice/platform';
import type { ClusterDirectory, Leases, Store, StoredDocument } from '@sluice/store';
import { type Cut, Reach } from './reach.ts';

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** Heartbeats that were sent before a pause, or before the clock was set back, no longer matter then, in milliseconds. */
const settledMs = 2_000;

/** How long clients wait for an answer, in milliseconds. */
const timeoutsMs = { leases: 2_000, store: 10_000, bus: 8_000, cluster: 30_000 };

/** Servers that a process talks to. */
export type Peer = 'bus' | 'store' | 'cluster';

/** A server from which a process can be cut off: `cluster/NAME` is one API server. */
export type Server = 'bus' | 'store' | `cluster/${string}`;

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
  /** When its last pause ended, and when its system clock was last set back. */
  #resumedAt = Number.NEGATIVE_INFINITY;
  #setBackAt = Number.NEGATIVE_INFINITY;
  readonly #links = new Map<Peer, Link>();
  readonly #reaches = new Map<Server, Reach>();
  #watchLagMs = 0;

  constructor(ports: SimulationPorts) {
    this.#ports = ports;
  }

  freeze(): void {
    this.#frozen ??= Promise.withResolvers();
  }

  /** Freezes the whole virtual machine: its monotonic clock stops as well. Returns whether it has. */
  pause(): boolean {
    const now = this.#ports.clock.monotonic();
    if (now < this.#setBackAt + settledMs) return false;
    this.freeze();
    this.#pausedAt ??= now;
    return true;
  }

  /**
   * Sets the system clock of the process ahead, or back. Returns whether it has: a pause shows only as a step of the system clock, and
   * a clock that is set back as far hides it from every process.
   */
  stepClock(ms: number): boolean {
    const now = this.#ports.clock.monotonic();
    if (ms < 0 && (this.#pausedAt !== undefined || now < this.#resumedAt + settledMs)) return false;
    if (ms < 0) this.#setBackAt = now;
    this.#wallOffsetMs += ms;
    return true;
  }

  setLink(peer: Peer, link: Link | undefined): void {
    if (link === undefined) this.#links.delete(peer);
    else this.#links.set(peer, link);
  }

  /** From now on it alone does not reach the server. */
  cutOff(server: Server, how: Cut): void {
    this.#reach(server).cut(how);
  }

  /** Whether there is a server that it alone does not reach. */
  get isCutOff(): boolean {
    return this.#reaches.values().some(({ isCut }) => isCut);
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
    if (this.#pausedAt !== undefined) {
      this.#resumedAt = this.#ports.clock.monotonic();
      this.#pausedMs += this.#resumedAt - this.#pausedAt;
    }
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
    const reach = this.#reach('bus');
    return {
      partitions: bus.partitions,
      limits: bus.limits,
      get connected() {
        return !reach.isRefused && (bus.connected ?? true);
      },
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
        const closed = Promise.withResolvers<void>();
        return {
          streamId: reader.streamId,
          next: (max) =>
            this.#exchange('bus', async () => {
              const records = await reader.next(max);
              if (!reach.isCut) return records;
              await closed.promise;
              return [];
            }),
          release: (offset) => reader.release(offset),
          close: () => {
            closed.resolve();
            reader.close();
          },
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
      heartbeat: (...args) => this.#call('store', () => leases.heartbeat(...args), timeoutsMs.leases),
      leave: (...args) => this.#call('store', () => leases.leave(...args), timeoutsMs.leases),
      state: (...args) => this.#call('store', () => leases.state(...args), timeoutsMs.leases),
      watch: (group, onChange) => leases.watch(group, () => void this.#awake().then(onChange)),
    };
  }

  directory(directory: ClusterDirectory): ClusterDirectory {
    return {
      put: (...args) => this.#call('store', () => directory.put(...args)),
      setPaused: (...args) => this.#call('store', () => directory.setPaused(...args)),
      remove: (...args) => this.#call('store', () => directory.remove(...args)),
      list: (...args) => this.#call('store', () => directory.list(...args)),
    };
  }

  document(document: StoredDocument): StoredDocument {
    return {
      read: (...args) => this.#call('store', () => document.read(...args)),
      replace: (...args) => this.#call('store', () => document.replace(...args)),
    };
  }

  reader(reader: ClusterReader, cluster: string): ClusterReader {
    const reach = this.#reach(`cluster/${cluster}`);
    return chainReader(reader, async (request, next) => {
      const send = () => this.#request(reach, request, () => next(request));
      if (request.verb !== 'watch') return this.#exchange('cluster', send);
      return mapWatch(request, await send(), (stream) => this.#whileAwake(reach, request.signal, stream));
    });
  }

  writer(writer: ClusterWriter, cluster: string): ClusterWriter {
    const reach = this.#reach(`cluster/${cluster}`);
    return chainWriter(writer, (request, next) => {
      const send = () => this.#send('cluster', () => this.#request(reach, request, () => next(request)));
      return writeVerbs.has(request.verb) ? this.#effect((act) => act(), send) : send();
    });
  }

  #reach(server: Server): Reach {
    const reach = this.#reaches.get(server) ?? new Reach(this.#ports.clock);
    this.#reaches.set(server, reach);
    return reach;
  }

  #request<T>(reach: Reach, { signal }: { readonly signal: AbortSignal }, send: () => Promise<T>): Promise<T> {
    return reach.send(send, noAnswer, { timeoutMs: timeoutsMs.cluster, signal });
  }

  /** The events of a watch. Its connection breaks when the API server refuses connections, and is silent if it is out of reach. */
  async *#whileAwake(reach: Reach, signal: AbortSignal, stream: WatchStream): WatchStream {
    const events = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await Promise.race([events.next(), reach.lost]);
        if (reach.isRefused) throw noAnswer('injected: connection reset');
        if (reach.isCut || next === undefined) return await aborted(signal);
        if (next.done) return;
        if (this.#watchLagMs > 0) await sleep(this.#ports.clock, this.#watchLagMs);
        await this.#awake();
        yield next.value;
      }
    } finally {
      void events.return?.();
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

  #call<T>(peer: 'bus' | 'store', send: () => Promise<T>, timeoutMs = timeoutsMs[peer]): Promise<T> {
    const reach = this.#reach(peer);
    return this.#exchange(peer, () => reach.send(send, (why) => new Error(why), { timeoutMs }));
  }

  async #exchange<T>(peer: Peer, send: () => Promise<T>): Promise<T> {
    await this.#way(this.#links.get(peer)?.requestMs ?? 0);
    return this.#send(peer, send);
  }

  /** Starts immediately: a request that has left the process is executed even if the process freezes. */
  async #send<T>(peer: Peer, send: () => Promise<T>): Promise<T> {
    this.#ports.onCall();
    try {
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

const noAnswer = (why: string): Error => new ApiError(why, { kind: 'retry', status: 0, reason: 'ECONNRESET' });
