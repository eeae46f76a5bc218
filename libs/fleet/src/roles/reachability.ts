import type { Bus } from '@sluice/bus';
import type { Clock } from '@sluice/platform';
import { forAllScopes, type GroupState } from '@sluice/store';
import { SharedRequest } from '@sluice/telemetry';

export type OwningRole = 'watcher' | 'reconciler' | 'writer';

interface ReachabilityOptions {
  readonly bus: Bus;
  readonly member: string;
  readonly clock: Clock;
  /** Names of configured clusters to which this process cannot connect. Default: none. */
  readonly unavailable?: () => Iterable<string>;
}

/** Rejects if the server does not answer, or what it answers is of no use. */
type Send = (signal: AbortSignal) => Promise<unknown>;

interface Probe {
  readonly send: Send;
  readonly silence: Silence;
  /** Requests in flight, with the time at which each was sent. */
  readonly inFlight: Map<AbortController, number>;
}

/** A request that takes longer is given up, in milliseconds: its connection may be dead. */
const requestTimeoutMs = 3_000;

/**
 * Longest time between two looks that counts, in milliseconds. A process whose event loop was blocked for longer has not
 * received answers that wait for it.
 */
const maxStepMs = 500;

/** Requests to clusters per second: what they cost does not grow with the number of clusters. */
export const maxProbesPerSecond = 50;

/**
 * Which servers do not answer this process: the bus and the API servers of its clusters, whether it holds a scope that needs them or
 * only may get one. It asks them while a group has other members, which take over what it cannot do.
 */
export class Reachability {
  readonly #options: ReachabilityOptions;
  readonly #bus: Probe;
  /** By identity, the one that was asked longest ago first. */
  readonly #clusters = new Map<string, Probe>();
  /** Groups with other members, and what these make no progress on. */
  readonly #shared = new Map<string, ReadonlySet<string>>();
  /** Clusters that others have just reported. */
  readonly #urgent = new Set<string>();
  #lookedAt: number;
  /** Time in which this process could have received answers, in milliseconds. */
  #at = 0;
  #permits = 0;

  constructor(options: ReachabilityOptions) {
    const { bus, clock } = options;
    this.#options = options;
    this.#lookedAt = clock.monotonic();
    // A bus that does not answer holds each request for long.
    const end = new SharedRequest(clock, () => bus.end('requests', 0));
    this.#bus = probe(() => end.send(requestTimeoutMs));
  }

  /** Asks a cluster until the returned function is called. */
  addCluster(identity: string, send: Send): () => void {
    const added = probe(send);
    this.#clusters.set(identity, added);
    return () => {
      for (const request of added.inFlight.keys()) request.abort();
      if (this.#clusters.get(identity) === added) this.#clusters.delete(identity);
    };
  }

  /** To be called at each heartbeat. Returns what the member of the role's group makes no progress on. */
  stalled(role: OwningRole): readonly string[] {
    this.#look();
    const bus = this.#bus.silence.isSilent(this.#at) ? [busReason] : [];
    if (role === 'reconciler') return bus;
    const silent = [...this.#clusters].flatMap(([identity, { silence }]) =>
      silence.isSilent(this.#at) ? [identity] : [],
    );
    if (role === 'watcher') return [...bus, ...silent];
    const clusters = [...silent, ...(this.#options.unavailable?.() ?? [])];
    return [...bus, ...clusters.map(forAllOf)];
  }

  /** Probes at once what others report, so that no member releases a scope that no other could serve. */
  observe(group: string, { members, stalled }: Pick<GroupState, 'members' | 'stalled'>): void {
    const others = members.filter((name) => name !== this.#options.member);
    const known = this.#shared.get(group);
    const reported = new Set(others.flatMap((name) => stalled?.get(name) ?? []));
    if (others.length > 0) this.#shared.set(group, reported);
    else this.#shared.delete(group);
    if (reported.size === 0) return;
    const isNew = (reason: string) => reported.has(reason) && !known?.has(reason);
    for (const identity of this.#clusters.keys())
      if (isNew(identity) || isNew(forAllOf(identity))) this.#urgent.add(identity);
    if (isNew(busReason)) this.#ask(this.#bus);
    this.#look();
  }

  #look(): void {
    const now = this.#options.clock.monotonic();
    const elapsedMs = Math.min(maxStepMs, now - this.#lookedAt);
    this.#lookedAt = now;
    this.#at += elapsedMs;
    const probes = [this.#bus, ...this.#clusters.values()];
    for (const one of probes) this.#giveUpLate(one);
    if (this.#shared.size === 0) {
      for (const { silence } of probes) silence.forget();
      return;
    }
    if (this.#bus.silence.isDue(this.#at)) this.#ask(this.#bus);
    this.#permits = Math.min(maxProbesPerSecond, this.#permits + (elapsedMs / 1_000) * maxProbesPerSecond);
    for (const identity of new Set([...this.#urgent, ...this.#clusters.keys()])) {
      if (this.#permits < 1) return;
      const cluster = this.#clusters.get(identity);
      const isUrgent = this.#urgent.delete(identity);
      if (cluster === undefined || !(isUrgent || cluster.silence.isDue(this.#at))) continue;
      this.#permits--;
      this.#clusters.delete(identity);
      this.#clusters.set(identity, cluster);
      this.#ask(cluster);
    }
  }

  #ask({ send, silence, inFlight }: Probe): void {
    const request = new AbortController();
    const sentAt = this.#at;
    inFlight.set(request, sentAt);
    silence.sent(sentAt);
    send(request.signal)
      .then(
        () => silence.answered(sentAt, this.#at),
        () => {},
      )
      .finally(() => inFlight.delete(request));
  }

  #giveUpLate({ inFlight }: Probe): void {
    for (const [request, sentAt] of inFlight) if (this.#at - sentAt >= requestTimeoutMs) request.abort();
  }
}

const probe = (send: Send): Probe => ({ send, silence: new Silence(), inFlight: new Map() });

const busReason = `${forAllScopes}bus`;

const forAllOf = (cluster: string): string => `${forAllScopes}cluster ${cluster}`;

/**
 * Time without an answer after which a server counts as silent, in milliseconds; a failure that lasts less is no outage. More if its
 * answers take longer: an overloaded server is slow for all members, and must not get the lists of a move as well.
 */
const silentMs = { min: 1_000, max: 10_000, perLatency: 3 };

/** Part of a longer time that remains after each answer. */
const decay = 0.9;

/** Time between requests, in milliseconds. */
export const probeIntervalMs = 500;

/** Whether a server answers requests that are sent to it regularly. All times are those of one clock, in milliseconds. */
export class Silence {
  /** When the first request was sent that nothing was answered since. */
  #since: number | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #limitMs = silentMs.min;

  isDue(at: number): boolean {
    return at - this.#sentAt >= probeIntervalMs;
  }

  isSilent(at: number): boolean {
    return this.#since !== undefined && at - this.#since >= this.#limitMs;
  }

  sent(at: number): void {
    this.#sentAt = at;
    this.#since ??= at;
  }

  /** The request that was sent at `sentAt` was answered. */
  answered(sentAt: number, at: number): void {
    const needed = Math.min(silentMs.max, silentMs.perLatency * (at - sentAt));
    this.#limitMs = Math.max(silentMs.min, decay * this.#limitMs, needed);
    this.#since = undefined;
  }

  /** Nothing is expected from the server for now. */
  forget(): void {
    this.#since = undefined;
  }
}
