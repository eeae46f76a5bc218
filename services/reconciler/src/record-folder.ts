import type { Delivery } from '@sluice/bus';
import {
  type Change,
  decodeRecord,
  formatServiceKey,
  isMessageError,
  type Outcome,
  type RemovalRelease,
  traceFields,
  traceOf,
} from '@sluice/messages';
import { applyChange, applyOutcome, applyRelease } from '@sluice/service-state';
import type { Doubts } from './doubts.ts';
import type { PartitionMetrics } from './metrics.ts';
import type { PartitionState } from './partition-state.ts';
import type { PartitionTraces } from './partition-traces.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

export interface RecordFolderOptions extends Pick<PartitionWorkerOptions, 'settings' | 'logger'> {
  readonly state: PartitionState;
  readonly doubts: Doubts;
  readonly metrics: PartitionMetrics;
  readonly traces: PartitionTraces | undefined;
}

/** Takes the records of a partition in their order, and folds what they say into its state. */
export class RecordFolder {
  readonly #options: RecordFolderOptions;

  constructor(options: RecordFolderOptions) {
    this.#options = options;
  }

  /** Folds the record into the view of its key, or returns why it cannot be. */
  fold(record: Delivery, now: number): string | undefined {
    const { traces } = this.#options;
    const startedAt = traces?.now() ?? 0;
    try {
      this.#fold(record, now);
      traces?.folded(record, startedAt);
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.logger.error(isMessageError(error) ? 'message set aside' : 'message could not be folded', {
        key: record.key,
        id: record.id,
        offset: record.offset,
        reason,
        ...traceFields(traceOf(record.headers)),
      });
      traces?.folded(record, startedAt, reason);
      return reason;
    }
  }

  #fold(record: Delivery, now: number): void {
    const { state, traces, metrics } = this.#options;
    const decoded = decodeRecord(record);
    const message = traces?.received(record, decoded) ?? decoded;
    switch (message.kind) {
      case 'clusterRemoved': {
        const { cluster, epoch } = message;
        if (record.key !== cluster) throw new TypeError(`removed cluster ${cluster} under key ${record.key}`);
        if (!state.heard.hasHeardAfter(cluster, epoch)) state.forgetCluster(cluster);
        return;
      }
      case 'change':
        checkKey(record, message);
        this.#foldChange(record.key, message, now);
        return metrics.folded('change');
      case 'outcome':
        checkKey(record, message);
        this.#foldOutcome(record, message, now);
        return metrics.folded('outcome');
      case 'release': {
        checkKey(record, message);
        const view = state.views.get(record.key);
        if (view !== undefined) applyRelease(view, message, now);
        return;
      }
      default:
        throw new TypeError(`${message.kind} among changes`);
    }
  }

  #foldChange(key: string, change: Change, now: number): void {
    const { state, doubts, settings } = this.#options;
    // A late one does not bring a view back that was dropped.
    if (!state.views.has(key) && state.heard.knows(change)) return;
    const view = state.view(key);
    if (state.heard.hear(change)) doubts.miss(state, change, now);
    applyChange(view, change, now, settings);
    doubts.compare(key, view, change, now);
  }

  #foldOutcome(record: Delivery, told: Outcome, now: number): void {
    const { state, settings, traces, metrics } = this.#options;
    const view = state.views.get(record.key);
    if (view === undefined) return;
    const { inFlight, counted } = view.controller(told.controller);
    const outcome = (inFlight && traces?.settled(record, told, inFlight)) ?? told;
    const status = applyOutcome(view, outcome, now, settings);
    if (status === undefined || inFlight === null) return;
    const { groups, incomplete } = inFlight.message;
    metrics.settled(record.key, outcome.controller, {
      outcome,
      status,
      groups,
      incomplete: incomplete.length > 0,
      counted,
    });
  }
}

function checkKey(record: Delivery, { kind, key }: Change | Outcome | RemovalRelease): void {
  if (formatServiceKey(key) === record.key) return;
  throw new TypeError(`${kind} for ${formatServiceKey(key)} under key ${record.key}`);
}
