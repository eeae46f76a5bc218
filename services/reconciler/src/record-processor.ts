import { assertNotRejected, type Delivery } from '@sluice/bus';
import { sliceControllers } from '@sluice/controllers';
import {
  type Change,
  type CompactionRequest,
  decodeRecord,
  formatServiceKey,
  type Outcome,
  type RemovalRelease,
  traceFields,
  traceOf,
} from '@sluice/messages';
import { errorMessage } from '@sluice/platform';
import {
  evolve,
  isAwaited,
  judgedStatus,
  proofOfRestore,
  proofOfRestoreByOutcome,
  type ServiceMessage,
  type ServiceState,
  watchBytes,
} from '@sluice/service-state';
import type { PartitionMetrics } from './metrics.ts';
import type { PartitionState } from './partition-state.ts';
import type { PartitionTraces } from './partition-traces.ts';
import type { ResyncRequester } from './resync-requester.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

interface RecordProcessorOptions extends Pick<PartitionWorkerOptions, 'settings' | 'logger'> {
  readonly state: PartitionState;
  readonly resyncs: ResyncRequester;
  readonly metrics: PartitionMetrics | undefined;
  readonly traces: PartitionTraces | undefined;
}

/** Applies the records of a partition, in their order, to its state. */
export class RecordProcessor {
  readonly #options: RecordProcessorOptions;

  constructor(options: RecordProcessorOptions) {
    this.#options = options;
  }

  /** Applies a record. Returns why it cannot be applied, undefined if it was. */
  process(record: Delivery, now: number): string | undefined {
    const { traces } = this.#options;
    const startedAt = traces?.now() ?? 0;
    try {
      this.#apply(record, now);
      traces?.processed(record, startedAt);
      return undefined;
    } catch (error) {
      const reason = errorMessage(error);
      const { key, id, offset } = record;
      this.#options.logger.error('record dead-lettered', {
        key,
        id,
        offset,
        reason,
        ...traceFields(traceOf(record.headers)),
      });
      traces?.processed(record, startedAt, reason);
      return reason;
    }
  }

  #apply(record: Delivery, now: number): void {
    const { state, traces, metrics } = this.#options;
    assertNotRejected(record);
    const decoded = decodeRecord(record);
    const message = traces?.received(record, decoded) ?? decoded;
    switch (message.kind) {
      case 'clusterRemoved': {
        const { cluster, epoch } = message;
        if (record.key !== cluster) throw new TypeError(`removal of cluster ${cluster} under key ${record.key}`);
        if (state.gaps.hasSeenEpochAfter(cluster, epoch)) return;
        state.removeCluster(cluster);
        this.#options.resyncs.removeCluster(cluster);
        return;
      }
      case 'change':
        checkKey(record, message);
        this.#applyChange(record.key, message, now);
        return metrics?.applied('change');
      case 'outcome':
        checkKey(record, message);
        this.#applyOutcome(record, message, now);
        return metrics?.applied('outcome');
      case 'compaction':
      case 'release': {
        checkKey(record, message);
        const service = state.services.get(record.key);
        if (service !== undefined) this.#evolve(service, message, now);
        return;
      }
      default:
        throw new TypeError(`unexpected message of kind ${message.kind} in topic changes`);
    }
  }

  #applyChange(key: string, change: Change, now: number): void {
    const { state, resyncs } = this.#options;
    // A late Change must not bring a dropped state back.
    if (!state.services.has(key) && state.gaps.hasSeen(change)) return;
    const service = state.service(key);
    const missing = state.gaps.observe(change);
    if (missing !== undefined) resyncs.reportGap(state, { cluster: change.key.cluster, missing }, now);
    const endsSnapshot = change.snapshot?.last === true && (change.snapshot.first || service.snapshot.open !== null);
    const proof = proofOfRestore(service, change);
    if (proof !== undefined) {
      // Reachable: Change proves a restore of etcd
      this.#reportRestore(key, change, proof);
    }
    this.#evolve(service, change, now);
    if (endsSnapshot && isLastApplied(service, change)) resyncs.resolve(key);
    resyncs.compare(key, service, change, now);
  }

  #reportRestore(key: string, proven: Pick<Change, 'key' | 'stamp'>, proof: string): void {
    this.#options.metrics?.restoreProven(key);
    this.#options.resyncs.reportRestore(proven, proof);
  }

  /** A message that fails to apply may have been applied in part, so nothing is decided before the next snapshot. */
  #evolve(service: ServiceState, message: ServiceMessage, now: number): void {
    const before = foreignWritesOf(service);
    try {
      evolve(service, message, now, this.#options.settings);
      this.#reportForeignWrites(service, before);
    } catch (error) {
      evolve(service, { kind: 'messagesLost' }, now, this.#options.settings);
      throw error;
    }
  }

  #reportForeignWrites(service: ServiceState, before: readonly number[]): void {
    const { metrics, logger } = this.#options;
    for (const [index, count] of foreignWritesOf(service).entries()) {
      const added = count - (before[index] ?? 0);
      const controller = sliceControllers[index];
      if (added <= 0 || controller === undefined) continue;
      const key = formatServiceKey(service.key);
      metrics?.foreignWrites(key, controller, added);
      const { slice } = service.controller(controller).repairs.foreignWrites ?? {};
      logger.debug('another client wrote a slice', { key, controller, slice });
    }
  }

  #applyOutcome(record: Delivery, received: Outcome, now: number): void {
    const { state, traces, metrics, settings } = this.#options;
    const service = state.services.get(record.key);
    if (service === undefined || !isAwaited(service, received)) return;
    const { controller } = received;
    const { inFlight, trackers } = service.controller(controller);
    if (inFlight === null) return;
    const outcome = traces?.completed(record, received, inFlight) ?? received;
    const proof = proofOfRestoreByOutcome(service, outcome);
    if (proof !== undefined) {
      // Reachable: Outcome proves a restore of etcd
      this.#reportRestore(record.key, { key: service.key, stamp: service.snapshot.stamp }, proof);
    }
    this.#evolve(service, outcome, now);
    metrics?.completed(record.key, controller, {
      outcome,
      status: judgedStatus(service, outcome),
      groups: inFlight.message.groups,
      incomplete: inFlight.message.incomplete.length > 0,
      fanoutBytes: watchBytes(inFlight.message.groups) * settings.sliceWatchers,
      compaction: inFlight.message.compaction,
      counted: trackers.counted,
    });
  }
}

const foreignWritesOf = (service: ServiceState): readonly number[] =>
  sliceControllers.map((controller) => service.controller(controller).repairs.foreignWrites?.count ?? 0);

/** Whether the Change is the last one that the state has applied. */
function isLastApplied({ snapshot }: ServiceState, { stamp }: Change): boolean {
  return snapshot.stamp.epoch === stamp.epoch && snapshot.stamp.sequence === stamp.sequence;
}

function checkKey(record: Delivery, { kind, key }: Change | CompactionRequest | Outcome | RemovalRelease): void {
  if (formatServiceKey(key) === record.key) return;
  throw new TypeError(`${kind} of ${formatServiceKey(key)} under key ${record.key}`);
}
