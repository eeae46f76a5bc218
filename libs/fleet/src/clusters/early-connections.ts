import type { ClusterAccess } from '@sluice/kubernetes';
import type { Cancel, Clock } from '@sluice/platform';
import type { ConnectedCluster } from './cluster.ts';
import type { ClusterSetOptions } from './cluster-set-options.ts';
import type { ClusterCandidate, ClusterSource, SourceReading } from './cluster-source.ts';

type Open = ClusterSetOptions['open'];

interface EarlyConnectionsOptions {
  readonly sources: readonly ClusterSource[];
  readonly open: Open;
  readonly clock: Clock;
}

interface EarlyConnection {
  readonly cluster: Promise<ConnectedCluster>;
  readonly stop: AbortController;
  readonly cancelExpiry: Cancel;
}

/** A connection that nobody has used by then is closed, in milliseconds: what it has checked may have changed. */
const maxAgeMs = 30_000;

/**
 * Sources and connections for a `ClusterSet`. `start` connects to the clusters before the set runs, while the process opens
 * bus and store.
 */
export class EarlyConnections {
  readonly #options: EarlyConnectionsOptions;
  readonly #connections = new Map<ClusterAccess, EarlyConnection>();
  readonly #readings = new Map<ClusterSource, Promise<SourceReading>>();
  readonly #closed = new AbortController();

  constructor(options: EarlyConnectionsOptions) {
    this.#options = options;
  }

  /** Reads each source once and connects to the clusters it lists. A failure is reported to the set that reads and opens. */
  start(): void {
    for (const source of this.#options.sources) {
      const reading = this.#readEarly(source);
      reading.catch(() => {});
      this.#readings.set(source, reading);
    }
  }

  /** The sources, whose first reading is the early one. */
  get sources(): readonly ClusterSource[] {
    return this.#options.sources.map((source) => ({
      ...source,
      read: (signal) => {
        const early = this.#readings.get(source);
        this.#readings.delete(source);
        return early ?? source.read(signal);
      },
    }));
  }

  /** Returns the early connection with this access, once, and otherwise a new one. */
  readonly open: Open = async (access, signal, name) => {
    const early = this.#connections.get(access);
    this.#connections.delete(access);
    if (early === undefined) return this.#options.open(access, signal, name);
    early.cancelExpiry();
    const stop = () => early.stop.abort();
    signal.addEventListener('abort', stop, { once: true });
    return early.cluster.finally(() => signal.removeEventListener('abort', stop));
  };

  /** Closes the connections that were not used. */
  async close(): Promise<void> {
    this.#closed.abort();
    const unused = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(unused.map(close));
  }

  async #readEarly(source: ClusterSource): Promise<SourceReading> {
    const { candidates, problems } = await source.read(this.#closed.signal);
    return { candidates: candidates.map((candidate) => this.#connect(candidate)), problems };
  }

  /** A candidate that loads the access of the early connection at first. */
  #connect(candidate: ClusterCandidate): ClusterCandidate {
    let early: Promise<ClusterAccess> | undefined = this.#openEarly(candidate);
    early.catch(() => {});
    return {
      ...candidate,
      load: () => {
        const access = early ?? candidate.load();
        early = undefined;
        return access;
      },
    };
  }

  async #openEarly({ name, load }: ClusterCandidate): Promise<ClusterAccess> {
    const access = await load();
    if (this.#closed.signal.aborted) return access;
    const stop = new AbortController();
    const cluster = this.#options.open(access, stop.signal, name);
    cluster.catch(() => {});
    const cancelExpiry = this.#options.clock.schedule(maxAgeMs, () => {
      if (this.#connections.delete(access)) void close(early);
    });
    const early = { cluster, stop, cancelExpiry };
    this.#connections.set(access, early);
    return access;
  }
}

async function close({ cluster, stop, cancelExpiry }: EarlyConnection): Promise<void> {
  cancelExpiry();
  stop.abort();
  await cluster.then(
    (connected) => connected.close(),
    () => {},
  );
}
