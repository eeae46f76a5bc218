import { recordId } from '@sluice/bus';
import { type Compaction, compactSlices } from '@sluice/controllers';
import {
  type CompactionRequest,
  encodeMessage,
  formatServiceKey,
  partitionOf,
  type ServiceKey,
} from '@sluice/messages';
import { type EndpointSlice, endpointSliceController, managedByLabel } from '@sluice/model';
import { sleep, TokenBucket } from '@sluice/platform';
import type { ClusterWatcherOptions, CompactionOptions } from './cluster-watcher-options.ts';
import type { Indexer } from './indexer.ts';
import { type ObjectName, parseObjectName } from './watched-objects.ts';

interface CompactorOptions extends Pick<ClusterWatcherOptions, 'bus' | 'cluster' | 'clock' | 'logger'> {
  readonly indexer: Indexer;
  readonly compaction: CompactionOptions;
}

/** Slices whose sizes differ from one scan to the next are left alone: churn may fill them again. */
const scanPeriodMs = 5 * 60_000;
const reason = 'background compaction';

interface Candidate {
  readonly key: ServiceKey;
  readonly compaction: Compaction;
}

/**
 * Looks for Services whose slices churn has left partly empty, and requests their compaction, those first that lose most
 * slices per write. The reconciler decides on its own state, and may write less.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  readonly #budget: TokenBucket;
  #lastSizes: ReadonlyMap<ObjectName, string> = new Map();

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#budget = compactionBudget(options.compaction.writesPerHour, options.clock.monotonic());
  }

  /** Scans until `signal` aborts. Expects synced caches. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, scanPeriodMs, signal);
      if (signal.aborted) return;
      try {
        await this.#requestAll(this.#scan());
      } catch (error) {
        // The next scan finds the same slices.
        logger.warn('compaction not requested; retrying at the next scan', { error, retryInMs: scanPeriodMs });
      }
    }
  }

  /** Services that have kept the sizes of their slices since the last scan, and would have fewer. */
  #scan(): readonly Candidate[] {
    const {
      cluster,
      indexer,
      compaction: { maxEndpointsPerSlice },
    } = this.#options;
    const limits = { maxEndpointsPerSlice, maxWrites: Number.POSITIVE_INFINITY, onlyWorthwhile: true };
    const sizes = new Map<ObjectName, string>();
    const candidates: Candidate[] = [];
    for (const [name, service] of indexer.services) {
      const slices = [...indexer.slicesOfService(name).values()].filter(isManaged);
      if (slices.length < 2) continue;
      const compaction = compactSlices({ ...limits, service, slices });
      if (compaction.writes === 0) continue;
      const size = slices.map(({ metadata, endpoints }) => `${metadata.name} ${endpoints?.length ?? 0}`).join();
      sizes.set(name, size);
      const { namespace, name: of } = parseObjectName(name);
      if (this.#lastSizes.get(name) === size) candidates.push({ key: { cluster, namespace, service: of }, compaction });
    }
    this.#lastSizes = sizes;
    return candidates.sort((a, b) => perWrite(b) - perWrite(a));
  }

  async #requestAll(candidates: readonly Candidate[]): Promise<void> {
    const { clock, logger } = this.#options;
    let [services, spent] = [0, 0];
    for (const { key, compaction } of candidates) {
      const now = clock.monotonic();
      const available = Math.floor(this.#budget.available(now));
      if (available < 2) break;
      const maxWrites = Math.min(available, compaction.writes);
      // Before the append: it may succeed although its acknowledgement is lost.
      this.#budget.take(now, maxWrites);
      await this.#request(key, maxWrites);
      services++;
      spent += maxWrites;
    }
    if (services > 0)
      logger.info('compaction requested', { services, maxWrites: spent, candidates: candidates.length });
  }

  async #request(key: ServiceKey, maxWrites: number): Promise<void> {
    const { bus, clock } = this.#options;
    const name = formatServiceKey(key);
    const requestedAt = clock.now();
    const message: CompactionRequest = {
      kind: 'compaction',
      key,
      reason,
      requestedAt,
      maxWrites,
      onlyWorthwhile: true,
    };
    await bus.append('changes', partitionOf(name, bus.partitions), [
      { key: name, id: recordId('compaction', name, requestedAt), headers: {}, payload: encodeMessage(message) },
    ]);
  }
}

const isManaged = ({ metadata }: EndpointSlice): boolean =>
  metadata.labels?.[managedByLabel] === endpointSliceController;

const perWrite = ({ compaction: { removed, writes } }: Candidate): number => removed / writes;

const hourSeconds = 3_600;

/**
 * Writes that compaction may cause: in any hour at most `writesPerHour`. It starts empty, so a watcher that takes over does
 * not spend again what the previous one has spent.
 */
export function compactionBudget(writesPerHour: number, now: number): TokenBucket {
  // Capacity and refill of any hour together are the budget. Merging a few slices must be affordable at once.
  const capacity = Math.max(writesPerHour / 10, Math.min(writesPerHour / 2, 20));
  return new TokenBucket((writesPerHour - capacity) / hourSeconds, now, capacity, 0);
}
