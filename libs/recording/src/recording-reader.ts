import { statSync } from 'node:fs';
import { getOrCreate } from '@sluice/platform';
import type {
  Coverage,
  RecordedHistory,
  RecordedManagerChanges,
  RecordedNodeDisruptions,
  RecordedPods,
  RecordedProblems,
  RecordedPropagations,
  RecordedReadiness,
  RecordedRemovals,
} from './answers.ts';
import { ExistingServices } from './existing-services.ts';
import { filesIn } from './file-names.ts';
import {
  countManagerChanges,
  countReadinessChanges,
  findPropagations,
  findRemovals,
  type ManagerChanges,
  type ReadinessChanges,
} from './file-propagations.ts';
import { type NodeChange, nodeChangesIn } from './node-changes.ts';
import { withImpacts } from './node-disruptions.ts';
import { podTimelines } from './pod-timelines.ts';
import { JoinedProblems } from './problems/joined-problems.ts';
import type { Propagation } from './propagations.ts';
import type { NodeQuery, PropagationQuery, RecordedPeriod, RecordedRange, ServiceQuery } from './queries.ts';
import { RecordingDatabase, UnreadableRecordingError } from './recording-database.ts';
import { fileStart, type KeyedRecord, type Position, RecordingFile } from './recording-file.ts';
import type { StoredRecord } from './records.ts';

/** What can be asked of a recording. */
export type Recording = {
  readonly [Q in Question]: (...args: Parameters<RecordingReader[Q]>) => Promise<ReturnType<RecordingReader[Q]>>;
};
export type Question =
  | 'coverage'
  | 'managerChanges'
  | 'nodeDisruptions'
  | 'pods'
  | 'problems'
  | 'propagations'
  | 'readinessChanges'
  | 'records'
  | 'removals';

/** Reads a recording: a directory of files, also while another thread or process records to it, or one file. */
export class RecordingReader {
  readonly #path: string;
  readonly #files = new Map<string, RecordingFile>();
  readonly #onUnreadable: (reason: string) => void;
  readonly #reported = new Set<string>();

  /** `onUnreadable` is called once for each file or part of a file that cannot be read, with the reason for people. */
  constructor(path: string, onUnreadable: (reason: string) => void = () => {}) {
    this.#path = path;
    this.#onUnreadable = onUnreadable;
  }

  coverage(): Coverage {
    const periods: RecordedPeriod[] = [];
    let isRedacted = false;
    const unreadable = this.#read((file) => {
      const { from, to } = file.period;
      isRedacted ||= file.isRedacted;
      const last = periods.at(-1);
      if (last !== undefined && from <= last.to) periods[periods.length - 1] = { from: last.from, to };
      else periods.push({ from, to });
    });
    const gaps = periods.slice(1).map(({ from: to }, i) => ({ from: periods[i]?.to ?? to, to }));
    return { periods, gaps, unreadable, isRedacted };
  }

  /** Formatted keys of the Services that exist at a time, or that may, because their cluster does not answer. */
  servicesAt(time: number): readonly string[] {
    const existing = new ExistingServices();
    this.#read((file) => {
      const firstSnapshots = file.firstSnapshots(time);
      // A file starts when its first records are written.
      if (firstSnapshots.size > 0 || file.period.from <= time) existing.addFile(file.period, firstSnapshots);
    });
    return existing.at(time);
  }

  /** Names of the clusters, by identity. */
  clusterNames(): ReadonlyMap<string, string> {
    const names = new Map<string, string>();
    this.#read((file) => {
      for (const [identity, name] of file.clusterNames) names.set(identity, name);
    });
    return names;
  }

  /** The Service's records of that time, preceded by those since the last snapshot. */
  records(key: string, range: RecordedRange): RecordedHistory {
    const starts: { readonly file: RecordingFile; readonly from: Position }[] = [];
    let remaining = range.records;
    let isComplete = false;
    const unreadable = this.#read((file) => {
      if (isComplete) return;
      const { start, count } = file.start(key, { ...range, records: remaining });
      starts.unshift({ file, from: start ?? fileStart });
      remaining -= count;
      isComplete = start !== undefined;
    }, 'newest first');
    const records: StoredRecord[] = [];
    for (const { file, from } of starts) {
      try {
        const { records: found, damaged } = file.records(key, from, range.until);
        records.push(...found);
        if (damaged > 0) unreadable.push(this.#report(`${damagedText(file, damaged)} of ${key}`));
      } catch (error) {
        unreadable.push(this.#report(messageOf(error)));
      }
    }
    // Without a snapshot, the state is unknown.
    const first = records.findIndex(({ startsSnapshot }) => startsSnapshot);
    return { records: first < 0 ? [] : records.slice(first), unreadable };
  }

  /** Records of all Services later than a time, in the order of their arrival. Those of a file that cannot be read are left out. */
  *recordsAfter(time: number): Generator<KeyedRecord> {
    for (let last = ''; ; ) {
      const files: RecordingFile[] = [];
      this.#read((file) => {
        if (file.period.to >= time) files.push(file);
      });
      const next = files.find(({ path }) => path > last);
      if (next === undefined) return;
      last = next.path;
      try {
        const damaged = yield* next.recordsAfter(time);
        if (damaged > 0) this.#report(damagedText(next, damaged));
      } catch (error) {
        this.#report(messageOf(error));
      }
    }
  }

  /** How the Pods of a Service were over a period, which begins later if it has more than `records` records. */
  pods(key: string, period: RecordedPeriod, records: number): RecordedPods {
    const { periods, gaps } = this.coverage();
    const found = this.records(key, { since: period.from, until: period.to, records });
    const start = found.records.length < records ? periods[0] : { from: found.records[0]?.receivedAt ?? 0 };
    const from = Math.max(period.from, start?.from ?? 0);
    const to = Math.min(period.to, periods.at(-1)?.to ?? period.to);
    return { from, to, pods: podTimelines(key, found.records, { from, gaps }), unreadable: found.unreadable };
  }

  /** When Services had problems in a period, in the order of the start. `isOpen`: only those that continue. */
  problems({ isOpen, ...period }: RecordedPeriod & { readonly isOpen: boolean }): RecordedProblems {
    const joined = new JoinedProblems();
    const unreadable = this.#read((file) => {
      const firstSnapshots = file.firstSnapshots(period.to);
      joined.addFile({ period: file.period, firstSnapshots, problems: file.problems(period.to, isOpen) });
    });
    const found = joined.in(period);
    return { problems: isOpen ? found.filter(({ to }) => to === null) : found, unreadable };
  }

  /**
   * How long slices and Endpoints took to show changes of Pods, of those that overlap with a period. One that continues is as long
   * as it lasted until the end of its file; the recorder of the file knows it only once it has ended.
   */
  propagations(query: PropagationQuery): RecordedPropagations {
    const found: RankedPropagation[] = [];
    let isRead = false;
    const unreadable = this.#read((file) => {
      // Only those of the last file continue.
      if (query.isOpen && isRead) return;
      const until = file.period.to;
      isRead = true;
      for (const propagation of findPropagations(file.database, query, until)) found.push({ propagation, until });
    }, 'newest first');
    return { propagations: firstOf(found, query), unreadable };
  }

  /** How often Pods became ready or not ready in a period; at most `limit` Pods. */
  readinessChanges({ limit, ...query }: ServiceQuery & { readonly limit: number }): RecordedReadiness {
    const pods = new Map<string, ReadinessChanges>();
    const unreadable = this.#read((file) => {
      for (const one of countReadinessChanges(file.database, query)) {
        const name = `${one.key}/${one.pod}`;
        const { changes = 0, firstAt = one.firstAt } = pods.get(name) ?? {};
        pods.set(name, { ...one, changes: one.changes + changes, firstAt });
      }
    });
    return { pods: [...pods.values()].sort((a, b) => b.changes - a.changes).slice(0, limit), unreadable };
  }

  /** How often another field manager than before wrote the objects of Services in a period. */
  managerChanges(query: ServiceQuery): RecordedManagerChanges {
    const services = new Map<string, ManagerChanges>();
    const unreadable = this.#read((file) => {
      for (const one of countManagerChanges(file.database, query)) {
        const { changes = 0, firstAt = one.firstAt } = services.get(one.key) ?? {};
        services.set(one.key, { ...one, changes: one.changes + changes, firstAt });
      }
    });
    return { services: [...services.values()], unreadable };
  }

  removals(query: ServiceQuery): RecordedRemovals {
    const removals = new Map<string, number[]>();
    const unreadable = this.#read((file) => {
      for (const [key, ms] of findRemovals(file.database, query)) {
        const known = getOrCreate(removals, key, () => []);
        for (const one of ms) known.push(one);
      }
    });
    return { removals, unreadable };
  }

  /** When Nodes could not run Pods as they should, of those that overlap with a period, and what it did to Services. */
  nodeDisruptions(query: NodeQuery): RecordedNodeDisruptions {
    const changes: NodeChange[] = [];
    const unreadable = this.#read((file) => {
      for (const record of file.recordsOfNodes(query)) changes.push(...nodeChangesIn(record, query.node));
    });
    return { isKnown: changes.length > 0, disruptions: withImpacts(this, changes, query), unreadable };
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
  }

  /** Calls `read` with each file, oldest first by default. Returns what cannot be read, for people. */
  #read(read: (file: RecordingFile) => void, order?: 'newest first'): string[] {
    const unreadable: string[] = [];
    const paths = statSync(this.#path).isDirectory() ? filesIn(this.#path).map(({ path }) => path) : [this.#path];
    for (const [path, file] of this.#files) {
      if (paths.includes(path)) continue;
      file.close();
      this.#files.delete(path);
    }
    for (const path of order === undefined ? paths : paths.toReversed()) {
      try {
        const file = this.#files.get(path) ?? new RecordingFile(RecordingDatabase.open(path));
        this.#files.set(path, file);
        read(file);
      } catch (error) {
        unreadable.push(this.#report(messageOf(error)));
      }
    }
    return unreadable;
  }

  /** Returns the reason. */
  #report(reason: string): string {
    if (!this.#reported.has(reason)) this.#onUnreadable(reason);
    this.#reported.add(reason);
    return reason;
  }
}

export interface RankedPropagation {
  readonly propagation: Propagation;
  /** Until when it counts if it continues, in milliseconds since the Unix epoch. */
  readonly until: number;
}

/** The first ones in the order of the query. */
export function firstOf(
  found: readonly RankedPropagation[],
  { sort, limit }: Pick<PropagationQuery, 'sort' | 'limit'>,
): readonly Propagation[] {
  const rank = ({ propagation: { startedAt, endedAt }, until }: RankedPropagation) =>
    (endedAt ?? until) - (sort === 'longest' ? startedAt : 0);
  const sorted = found.toSorted((a, b) => rank(b) - rank(a)).slice(0, limit);
  return sorted.map(({ propagation }) => propagation);
}

/** Asks a reader of this thread. */
export const questionsTo = (reader: RecordingReader): Recording => ({
  coverage: async () => reader.coverage(),
  managerChanges: async (query) => reader.managerChanges(query),
  nodeDisruptions: async (query) => reader.nodeDisruptions(query),
  pods: async (...asked) => reader.pods(...asked),
  problems: async (query) => reader.problems(query),
  propagations: async (query) => reader.propagations(query),
  readinessChanges: async (query) => reader.readinessChanges(query),
  records: async (key, range) => reader.records(key, range),
  removals: async (query) => reader.removals(query),
});

const damagedText = ({ path }: RecordingFile, count: number): string =>
  `${path}: ${count} damaged ${count === 1 ? 'record' : 'records'}`;

function messageOf(error: unknown): string {
  if (error instanceof UnreadableRecordingError) return error.message;
  throw error;
}
