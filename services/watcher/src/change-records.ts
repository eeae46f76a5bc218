import { type BusLimits, recordId } from '@sluice/bus';
import {
  type Change,
  type Digest,
  digestFacts,
  formatServiceKey,
  MessageRecord,
  type PublishedResourceVersions,
  type Stamp,
  traceHeaders,
} from '@sluice/messages';
import type { Logger } from '@sluice/platform';
import type { ChangeTraces, TracedChange } from './change-traces.ts';
import { type ComposedChange, composeChanges, digestService, halves } from './compose-changes.ts';
import type { DirtyEntry } from './dirty-set.ts';
import type { Indexer } from './indexer.ts';

/** Numbers the Changes that a watcher publishes under one fencing token, also across sessions. */
export interface ChangeSequence {
  /** Sequence of the last Change. */
  last: number;
}

interface ChangeRecordsOptions {
  readonly fencingToken: number;
  readonly sequence: ChangeSequence;
  readonly indexer: Indexer;
  /** Sizes that the bus accepts. */
  readonly limits: () => BusLimits;
  readonly traces: ChangeTraces | undefined;
  readonly logger: Logger;
}

interface ServiceRecords {
  readonly records: readonly MessageRecord[];
  readonly lastStamp: Stamp;
  /** False if an object exceeds what the bus accepts. The records then say so and carry no facts. */
  readonly isPublishable: boolean;
}

/** Makes bus records of dirty Services and numbers them: one sequence for all partitions of a watcher. */
export class ChangeRecords {
  readonly #options: ChangeRecordsOptions;
  readonly #sequence: ChangeSequence;

  constructor(options: ChangeRecordsOptions) {
    this.#options = options;
    this.#sequence = options.sequence;
  }

  /**
   * Composes the Service's Changes. `previous` is the stamp of the partition's last Change; the records' last stamp
   * replaces it. Traces to be recorded after publishing are added to `traced`.
   */
  of(dirty: DirtyEntry, previous: Stamp, traced: TracedChange[]): ServiceRecords {
    const { indexer, traces, logger } = this.#options;
    const { key } = dirty;
    const reached = {
      endpoints: indexer.resourceVersions.get('endpoints') ?? '0',
      endpointslices: indexer.resourceVersions.get('endpointslices') ?? '0',
    };
    const digest = dirty.digest ? (digestService(indexer, key.namespace, key.service) ?? digestFacts([])) : undefined;
    const composed = composeChanges(indexer, dirty, reached);
    const sequence = this.#sequence.last;
    const fitting = this.#fitting(dirty, composed, { reached, digest, previous });
    const isPublishable = typeof fitting !== 'string';
    let records: readonly MessageRecord[];
    if (isPublishable) records = fitting;
    else {
      logger.error('object exceeds the limit of the bus; service not updated', { ...key, reason: fitting });
      this.#sequence.last = sequence;
      records = [this.#record(dirty, { facts: [], unpublishable: fitting }, previous, undefined)];
    }
    const last = records.at(-1);
    // Only the last part of a snapshot leads to a decision, so it alone continues the trace.
    if (traces && last && dirty.traces[0] !== undefined) traced.push(traces.composed(key, last.id, dirty.traces));
    return { records, lastStamp: { epoch: this.#options.fencingToken, sequence: this.#sequence.last }, isPublishable };
  }

  /** Records of at most `recordBytes` if their facts can be split so far, or why one exceeds `messageBytes`. */
  #fitting(
    dirty: DirtyEntry,
    composed: readonly ComposedChange[],
    { reached, digest, previous }: { reached: PublishedResourceVersions; digest: Digest | undefined; previous: Stamp },
  ): readonly MessageRecord[] | string {
    const { recordBytes, messageBytes } = this.#options.limits();
    const records: MessageRecord[] = [];
    const remaining = [...composed];
    let lastStamp = previous;
    for (let change = remaining.shift(); change !== undefined; change = remaining.shift()) {
      const end = remaining.length === 0 ? { resourceVersions: reached, ...(digest && { digest }) } : undefined;
      const record = this.#record(dirty, change, lastStamp, end);
      // A payload is encoded when it is read, which a bus without limits may never do.
      const bytes = recordBytes === Number.POSITIVE_INFINITY ? 0 : record.payload.length;
      if (bytes > recordBytes && change.facts.length > 1) {
        this.#sequence.last -= 1;
        remaining.unshift(...halves(change));
        continue;
      }
      if (bytes > messageBytes) return oversizeReason(change, bytes, messageBytes);
      records.push(record);
      lastStamp = { epoch: this.#options.fencingToken, sequence: this.#sequence.last };
    }
    return records;
  }

  /** `end`: what the last Change of the Service carries in addition. */
  #record(
    dirty: DirtyEntry,
    composed: Pick<Change, 'facts' | 'snapshot' | 'unpublishable'>,
    previous: Stamp,
    end: Pick<Change, 'resourceVersions' | 'digest'> | undefined,
  ): MessageRecord {
    const { fencingToken: epoch } = this.#options;
    const { key } = dirty;
    const stamp = { epoch, sequence: ++this.#sequence.last };
    const change: Change = {
      kind: 'change',
      key,
      stamp,
      previousSequence: previous.sequence,
      ...(previous.epoch !== epoch && { previousEpoch: previous.epoch }),
      ...composed,
      ...end,
      causes: dirty.causes,
    };
    const id = recordId(key.cluster, stamp.epoch, stamp.sequence);
    const trace = end || composed.unpublishable !== undefined ? dirty.traces[0]?.trace : undefined;
    return new MessageRecord({ key: formatServiceKey(key), id, headers: traceHeaders(trace) }, change);
  }
}

function oversizeReason({ facts }: ComposedChange, bytes: number, messageBytes: number): string {
  const [fact] = facts;
  const name = fact && 'name' in fact ? ` ${fact.name}` : '';
  return `${fact?.kind ?? 'change'}${name} has ${bytes} bytes, more than the ${messageBytes} that the bus accepts`;
}
