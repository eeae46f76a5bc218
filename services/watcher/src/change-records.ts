import {
  type Change,
  digestFacts,
  formatServiceKey,
  MessageRecord,
  type PublishedResourceVersions,
  type Stamp,
  traceHeaders,
} from '@sluice/messages';
import type { ChangeTraces, TracedChange } from './change-traces.ts';
import { composeChanges, digestService } from './compose-changes.ts';
import type { DirtyEntry } from './dirty-set.ts';
import type { Indexer } from './indexer.ts';

export interface ChangeRecordsOptions {
  readonly fencingToken: number;
  readonly indexer: Indexer;
  /** resourceVersion that the indexer has reached of each written resource. */
  readonly resourceVersions: () => PublishedResourceVersions;
  readonly traces: ChangeTraces | undefined;
}

/** Makes bus records of dirty Services and numbers them: one sequence for all partitions of a watcher. */
export class ChangeRecords {
  readonly #options: ChangeRecordsOptions;
  #sequence = 0;

  constructor(options: ChangeRecordsOptions) {
    this.#options = options;
  }

  /**
   * Composes the Service's Changes. `previous` is the stamp of the partition's last Change; the records' last stamp
   * replaces it. Traces to be recorded after publishing are added to `traced`.
   */
  of(dirty: DirtyEntry, previous: Stamp, traced: TracedChange[]): { records: MessageRecord[]; lastStamp: Stamp } {
    const { indexer, fencingToken: epoch, resourceVersions, traces } = this.#options;
    const { key } = dirty;
    const reached = resourceVersions();
    const changes = composeChanges(indexer, dirty, reached);
    let lastStamp = previous;
    const records = changes.map((composed, i) => {
      const stamp = { epoch, sequence: ++this.#sequence };
      const isLast = i === changes.length - 1;
      const change: Change = {
        kind: 'change',
        key,
        stamp,
        previousSequence: lastStamp.sequence,
        ...(lastStamp.epoch !== epoch && { previousEpoch: lastStamp.epoch }),
        ...composed,
        ...(isLast && { resourceVersions: reached }),
        ...(isLast &&
          dirty.digest && { digest: digestService(indexer, key.namespace, key.service) ?? digestFacts([]) }),
        causes: dirty.causes,
      };
      lastStamp = stamp;
      const id = `${key.cluster}/${stamp.epoch}/${stamp.sequence}`;
      // Only the last part of a snapshot leads to a decision, so it alone continues the trace.
      const trace = isLast ? dirty.traces[0]?.trace : undefined;
      if (trace !== undefined && traces) traced.push(traces.composed(key, id, dirty.traces));
      return new MessageRecord({ key: formatServiceKey(key), id, headers: traceHeaders(trace) }, change);
    });
    return { records, lastStamp };
  }
}
