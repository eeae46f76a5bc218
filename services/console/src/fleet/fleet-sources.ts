import type { StreamOffset } from '@sluice/bus';
import type { OpenInfrastructure } from '@sluice/fleet/roles';
import { type Clock, errorMessage, type Logger, sleep } from '@sluice/platform';
import { type Checkpoint, isUnidentified, type KnownCluster } from '@sluice/store';
import type { ConsoleSources } from '../ports.ts';
import type { ClusterView, DeadLetterView, OutageView, PartitionView } from '../view/schemas.ts';
import { findParked, type ParkedKey } from './parked-key.ts';

type Fleet = Pick<
  OpenInfrastructure,
  'bus' | 'store' | 'leases' | 'deadLetters' | 'directory' | 'storeProblems' | 'whyUnreachable'
>;

/** A cluster that is not served because its identity contradicts the pinned one. */
export interface ClusterConflict {
  readonly name: string;
  readonly identity: string;
  readonly reason: string;
}

interface Ports {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: there is none. */
  readonly recording?: ConsoleSources['recording'];
  readonly problemRules?: ConsoleSources['problemRules'];
  /** Called with the clusters after each read. */
  readonly onClusters?: (clusters: readonly ClusterView[]) => void;
}

/** Timeout of a probe of store or bus. */
const probeTimeoutMs = 3_000;
/** How long responses are cached. Finding parked Services scans the store. */
const [ttlMs, parkedTtlMs] = [1_000, 10_000] as const;
/** Interval of reading the clusters. It is short at first, so that a fleet that starts with its console appears at once. */
const [clustersMs, startupClustersMs, startupMs] = [2_000, 250, 30_000] as const;

/** Reads clusters, leases, lags, parked Services and dead letters of a fleet from its bus and store. Writes nothing. */
export class FleetSources implements ConsoleSources {
  readonly partitions: () => Promise<readonly PartitionView[]>;
  readonly parked: () => Promise<readonly ParkedKey[]>;
  readonly deadLetters: () => Promise<readonly DeadLetterView[]>;
  readonly trace: ConsoleSources['trace'];
  readonly recording: ConsoleSources['recording'];
  readonly problemRules: ConsoleSources['problemRules'];
  readonly #fleet: Fleet;
  readonly #ports: Ports;
  readonly #conflicts: () => Promise<readonly ClusterConflict[]>;
  #clusters: readonly ClusterView[] = [];
  /** Servers that do not answer, by name. */
  readonly #outages = new Map<string, OutageView>();
  readonly #answeredAt = new Map<string, number>();

  constructor(
    fleet: Fleet,
    ports: Ports,
    trace?: ConsoleSources['trace'],
    conflicts: () => Promise<readonly ClusterConflict[]> = async () => [],
  ) {
    this.trace = trace;
    this.recording = ports.recording;
    this.problemRules = ports.problemRules;
    this.#conflicts = conflicts;
    this.#fleet = fleet;
    this.#ports = ports;
    const { clock } = ports;
    this.partitions = cached(clock, ttlMs, () => readPartitions(fleet));
    this.parked = cached(clock, parkedTtlMs, () => findParked(fleet.store, fleet.bus.partitions));
    const nameOf = (identity: string) => this.#clusters.find((one) => one.identity === identity)?.name ?? '';
    this.deadLetters = cached(clock, ttlMs, () => readDeadLetters(fleet, nameOf));
  }

  /** The clusters as of the last read. */
  clusters(): readonly ClusterView[] {
    if (this.#outages.size === 0) return this.#clusters;
    return this.#clusters.map((cluster) => ({ ...cluster, state: 'unknown' }));
  }

  /** Set while the store or the bus does not answer. */
  outage(): OutageView | null {
    return [...this.#outages.values()][0] ?? null;
  }

  storeProblems(): readonly string[] {
    return (this.#fleet.storeProblems?.() ?? []).map(({ message }) => message);
  }

  /** Reads the clusters once. */
  async readClusters(): Promise<void> {
    const { directory, leases } = this.#fleet;
    const [listed, conflicts, { leases: held, members }] = await Promise.all([
      directory.list(),
      this.#conflicts(),
      leases.state('watcher'),
    ]);
    // What watchers have reported of API servers is the past once there are none.
    const known: readonly KnownCluster[] =
      members.length > 0 ? listed : listed.map(({ outage: _, ...cluster }) => cluster);
    const watched = new Map(held.map((lease) => [lease.scope, lease]));
    const identified = known.filter(({ identity }) => !isUnidentified(identity));
    // A cluster that did not answer at the start of its watcher may be known from before.
    const unanswered = new Map(known.filter(({ identity }) => isUnidentified(identity)).map((one) => [one.name, one]));
    const fresh = [...unanswered.values()].filter(({ name }) => !identified.some((other) => other.name === name));
    const before = new Map(this.#clusters.map((one) => [one.identity, one]));
    this.#clusters = [...identified, ...fresh].map((cluster) => {
      const lease = watched.get(cluster.identity);
      // While a watcher has the cluster, only its own report counts.
      const outage = cluster.outage ?? (lease === undefined ? unanswered.get(cluster.name)?.outage : undefined);
      const conflict = conflicts.find(({ identity, name }) => identity === cluster.identity || name === cluster.name);
      if (conflict !== undefined) return { ...cluster, state: `identity conflict: ${conflict.reason}` };
      const current = outage === undefined ? cluster : { ...cluster, outage };
      if (lease === undefined) {
        const notWatchedSince = before.get(cluster.identity)?.notWatchedSince ?? this.#ports.clock.now();
        return { ...current, state: stateOf(outage, 'not watched'), notWatchedSince };
      }
      const state = stateOf(outage, 'watched');
      return { ...current, state, watcher: { owner: lease.holder, epoch: lease.fencingToken } };
    });
    this.#ports.onClusters?.(this.#clusters);
  }

  /** Reads the clusters periodically until `signal` aborts. Failures leave the last result. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const { bus } = this.#fleet;
    const startedUpAt = clock.monotonic() + startupMs;
    while (!signal.aborted) {
      await Promise.all([
        this.#probe('store', () => this.readClusters(), signal),
        this.#probe('bus', () => bus.end('requests', 0), signal),
      ]);
      await sleep(clock, clock.monotonic() < startedUpAt ? startupClustersMs : clustersMs, signal);
    }
  }

  /** Sends a request to a server of the fleet, and notes and logs when it stops answering and when it answers again. */
  async #probe(backend: 'bus' | 'store', send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#ports;
    const what = `the ${backend}`;
    const done = new AbortController();
    const timeout = async () => {
      await sleep(clock, probeTimeoutMs, AbortSignal.any([signal, done.signal]));
      if (!signal.aborted && !done.signal.aborted) throw new Error(`no answer within ${probeTimeoutMs / 1_000} s`);
    };
    try {
      await Promise.race([send(), timeout()]);
      if (signal.aborted) return;
      if (this.#outages.delete(what)) logger.info('server responding again', { server: what });
      this.#answeredAt.set(what, clock.now());
    } catch (error) {
      if (this.#outages.has(what)) return;
      const since = this.#answeredAt.get(what) ?? clock.now();
      // A client that is reconnecting knows only that it got no answer.
      const reason = (await this.#fleet.whyUnreachable?.(backend)) ?? errorMessage(error);
      logger.warn('server not responding; showing the last known state', { server: what, reason });
      this.#outages.set(what, { what, since, reason });
    } finally {
      done.abort();
    }
  }
}

/** Who has each partition, and how far behind they are. */
export async function readPartitions(
  fleet: Pick<Fleet, 'bus' | 'store' | 'leases'>,
): Promise<readonly PartitionView[]> {
  const [reconcilers, writers] = await Promise.all([readShares(fleet, 'reconciler'), readShares(fleet, 'writer')]);
  return reconcilers.map((share, partition) => ({
    partition,
    ...share,
    writer: writers[partition] ?? { owner: '', epoch: 0, lag: null },
  }));
}

/** Owner and lag of each partition in a role. */
async function readShares(
  { bus, store, leases }: Pick<Fleet, 'bus' | 'store' | 'leases'>,
  role: 'reconciler' | 'writer',
) {
  const { leases: held } = await leases.state(role);
  const owners = new Map(held.map((lease) => [lease.scope, lease]));
  return Promise.all(
    Array.from({ length: bus.partitions }, async (_, partition) => {
      const [checkpoint, end] = await Promise.all([
        store.checkpoint(`${role}/${partition}`),
        bus.end(role === 'reconciler' ? 'changes' : 'mutations', partition),
      ]);
      const { holder = '', fencingToken = 0 } = owners.get(String(partition)) ?? {};
      return { owner: holder, epoch: fencingToken, lag: lagOf(checkpoint, end) };
    }),
  );
}

/** Null if nothing is committed in this stream. */
function lagOf(checkpoint: Checkpoint | null, end: StreamOffset): number | null {
  if (end.offset === 0) return 0;
  if (checkpoint === null) return null;
  const { streamId } = checkpoint;
  if (streamId !== end.streamId && streamId !== '' && end.streamId !== '') return null;
  return Math.max(0, end.offset - checkpoint.offset);
}

async function readDeadLetters(fleet: Fleet, nameOf: (identity: string) => string): Promise<readonly DeadLetterView[]> {
  const deadLetters = await fleet.deadLetters.list();
  return deadLetters.map(({ name, topic, record: { key }, reason, deadLetteredAt: at }) => ({
    name,
    topic,
    key,
    clusterName: nameOf(key.slice(0, key.indexOf('/'))),
    reason,
    at,
  }));
}

function stateOf(outage: ClusterView['outage'], otherwise: string): string {
  if (outage === undefined) return otherwise;
  return outage.answers ? 'unusable' : 'not answering';
}

/** Caches the result of `load` for `ttlMs`. Concurrent callers share one load; failures are not cached. */
export function cached<T>(clock: Pick<Clock, 'monotonic'>, ttlMs: number, load: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last !== undefined && now - last.at < ttlMs) return last.result;
    const entry = { at: now, result: load() };
    last = entry;
    entry.result.catch(() => {
      if (last === entry) last = undefined;
    });
    return entry.result;
  };
}
