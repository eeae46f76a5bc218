import { isServiceKey } from '@sluice/messages';
import { decompress } from './compress.ts';
import type { FileProblem } from './problems/joined-problems.ts';
import { problemReasons } from './problems/problem-reasons.ts';
import type { NodeQuery, RecordedPeriod, RecordedRange } from './queries.ts';
import { type RecordingDatabase, UnreadableRecordingError } from './recording-database.ts';
import type { RecordedTopic, StoredRecord } from './records.ts';

/** Where a record is in its file. */
export interface Position {
  readonly id: number;
  readonly at: number;
}

/** A damaged file may contain anything. */
const isTime = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= 8.64e15;

/** The beginning of a file. */
export const fileStart: Position = { id: 0, at: 0 };

interface Row {
  readonly id: number;
  readonly topic: RecordedTopic;
  readonly received_at: number;
  readonly snapshot: number;
  readonly base: number | null;
  readonly traceparent: string | null;
  readonly payload: Uint8Array;
}

const toStored = (row: Row, payload: Uint8Array): StoredRecord => ({
  topic: row.topic,
  receivedAt: row.received_at,
  startsSnapshot: row.snapshot === 1,
  payload,
  ...(row.traceparent !== null && { traceparent: row.traceparent }),
});

/** A record with the formatted key of its Service, or the identity of its cluster. */
export interface KeyedRecord extends StoredRecord {
  readonly key: string;
}

const rowsPerRead = 500;

/** Reads one file. Every method throws UnreadableRecordingError if the file is damaged there. */
export class RecordingFile {
  readonly database: RecordingDatabase;

  constructor(database: RecordingDatabase) {
    this.database = database;
  }

  get path(): string {
    return this.database.path;
  }

  /** Time that the file covers. */
  get period(): RecordedPeriod {
    const { from, to } = this.database.get('SELECT started_at AS "from", last_at AS "to" FROM recording');
    if (isTime(from) && isTime(to) && from <= to) return { from, to };
    throw new UnreadableRecordingError(
      `cannot read recording ${this.path}: the times of its start and end are damaged`,
    );
  }

  /** Whether names, addresses, labels and texts are replaced by pseudonyms. */
  get isRedacted(): boolean {
    // Earlier files of the format do not have the column.
    return Number(this.database.get('SELECT * FROM recording').redacted ?? 0) === 1;
  }

  /** Names of the clusters, by identity. */
  get clusterNames(): ReadonlyMap<string, string> {
    return new Map(
      this.database.all('SELECT * FROM clusters').map(({ identity, name }) => [String(identity), String(name)]),
    );
  }

  /**
   * The last snapshot of the Service from which all records since `since` follow, or the last `records` of them until `until`.
   * Undefined: none; `count` is the number of its records until then.
   */
  start(
    key: string,
    { since, until, records }: RecordedRange,
  ): { readonly start: Position | undefined; readonly count: number } {
    const service = this.database.serviceId(key);
    if (service === undefined) return { start: undefined, count: 0 };
    const ofService = `SELECT id, received_at AS at FROM records WHERE service = ${service}`;
    const newestFirst = 'ORDER BY received_at DESC, id DESC LIMIT 1';
    const [edge] = this.database.all(
      `${ofService} AND received_at <= ? ${newestFirst} OFFSET ?`,
      until,
      Math.max(0, records - 1),
    );
    const starts = [since, ...(edge === undefined ? [] : [Number(edge.at)])].flatMap((at) =>
      this.database.all(`${ofService} AND snapshot = 1 AND received_at <= ? ${newestFirst}`, Math.min(at, until)),
    );
    const start = (starts as unknown as readonly Position[]).toSorted((a, b) => a.id - b.id).at(-1);
    if (start !== undefined) return { start, count: records };
    const counted = this.database.get(
      `SELECT count(*) AS count FROM records WHERE service = ${service} AND received_at <= ?`,
      until,
    );
    return { start: undefined, count: Number(counted.count) };
  }

  /**
   * The Service's records in a range of time, and removals of its cluster, in the order of their arrival. After a damaged record,
   * the next one is a snapshot.
   */
  records(
    key: string,
    from: Position,
    until: number,
  ): { readonly records: readonly StoredRecord[]; readonly damaged: number } {
    const [service = -1, cluster = -1] = [key, key.slice(0, key.indexOf('/'))].map((one) =>
      this.database.serviceId(one),
    );
    const rows = this.database.all(
      `SELECT * FROM records WHERE service IN (${service}, ${cluster}) AND received_at BETWEEN ? AND ? AND id >= ? ORDER BY id`,
      from.at,
      until,
      from.id,
    ) as unknown as readonly Row[];
    const payloads = new Map<number, Uint8Array>();
    const records: StoredRecord[] = [];
    let damaged = 0;
    let isBroken = false;
    for (const row of rows) {
      if (isBroken && row.snapshot === 0) continue;
      const payload = this.#payload(row, payloads);
      isBroken = payload === undefined;
      if (payload === undefined) damaged++;
      else records.push(toStored(row, payload));
    }
    return { records, damaged };
  }

  /**
   * Records of all Services later than a time, in the order of their arrival. After a damaged record, the next one is a snapshot.
   * Returns how many are damaged.
   */
  *recordsAfter(time: number): Generator<KeyedRecord, number> {
    const broken = new Set<string>();
    let damaged = 0;
    for (let last = 0; ; ) {
      const rows = this.database.all(
        `SELECT records.*, key FROM records JOIN services ON services.id = service
         WHERE records.id > ? AND received_at > ? ORDER BY records.id LIMIT ?`,
        ...[last, time, rowsPerRead],
      ) as unknown as readonly (Row & { readonly key: string })[];
      const payloads = new Map<number, Uint8Array>();
      for (const row of rows) {
        const { key } = row;
        const payload = this.#payload(row, payloads);
        if (payload === undefined) damaged++;
        if (payload === undefined) broken.add(key);
        else if (row.snapshot === 1) broken.delete(key);
        if (payload !== undefined && !broken.has(key)) yield { key, ...toStored(row, payload) };
      }
      if (rows.length < rowsPerRead) return damaged;
      last = rows.at(-1)?.id ?? last;
    }
  }

  /** Records until a time that an event of a Node caused, or an event of one Node. Read in parts, because a Node has many Services. */
  *recordsOfNodes({ to, node }: Pick<NodeQuery, 'to' | 'node'>): Generator<KeyedRecord> {
    const start = node === undefined ? '; Node ' : `; Node ${node} `;
    const texts = this.database.all(`SELECT id FROM texts WHERE instr('; ' || text, ?)`, start).map(({ id }) => id);
    // Most files have none, and their records need not be read.
    if (texts.length === 0) return;
    const named = JSON.stringify(texts);
    for (let last = 0; ; ) {
      const rows = this.database.all(
        `SELECT records.*, key FROM records JOIN services ON services.id = service
         WHERE records.id > ? AND received_at <= ? AND text IN (SELECT value FROM json_each(?)) ORDER BY records.id LIMIT ?`,
        ...[last, to, named, rowsPerRead],
      ) as unknown as readonly (Row & { readonly key: string })[];
      for (const row of rows) {
        const payload = isServiceKey(row.key) ? this.#payload(row, new Map()) : undefined;
        if (payload !== undefined) yield { key: row.key, ...toStored(row, payload) };
      }
      if (rows.length < rowsPerRead) return;
      last = rows.at(-1)?.id ?? last;
    }
  }

  /** Problems that begin until a time, in the order of their start. `isOpen`: without those that end in the file and began in it. */
  problems(until: number, isOpen: boolean): readonly FileProblem[] {
    const rows = this.database.ofServices(
      `SELECT key, reasons.text AS reason, messages.text AS message, events.text AS event,
         started_at AS "from", ended_at AS "to", continued
       FROM problems
         JOIN services ON services.id = service
         JOIN texts AS reasons ON reasons.id = reason
         JOIN texts AS messages ON messages.id = message
         LEFT JOIN texts AS events ON events.id = event
       WHERE started_at <= ? ${isOpen ? 'AND (ended_at IS NULL OR continued = 1)' : ''} ORDER BY problems.id`,
      until,
    ) as unknown as readonly (Omit<FileProblem, 'isContinued'> & { readonly continued: number })[];
    return rows.flatMap(({ continued, ...row }) =>
      Object.hasOwn(problemReasons, row.reason) ? { ...row, isContinued: continued === 1 } : [],
    );
  }

  /** When each Service was first published whole until a time, by formatted key. */
  firstSnapshots(until: number): ReadonlyMap<string, number> {
    // One lookup for each Service, however many snapshots it has.
    const rows = this.database.ofServices(
      `SELECT key, at FROM (
         SELECT key, (
           SELECT received_at FROM records
           WHERE service = services.id AND snapshot = 1 AND received_at <= ? ORDER BY received_at LIMIT 1
         ) AS at FROM services
       ) WHERE at IS NOT NULL`,
      until,
    );
    return new Map(rows.map(({ key, at }) => [String(key), Number(at)]));
  }

  close(): void {
    this.database.close();
  }

  /** Undefined if it is damaged. Bases precede their records, so `known` has most of them. */
  #payload(row: Row, known: Map<number, Uint8Array>): Uint8Array | undefined {
    if (!isTime(row.received_at) || !['changes', 'mutations'].includes(row.topic)) return undefined;
    const chain = [row];
    for (let last = row; last.base !== null && !known.has(last.base); chain.push(last)) {
      const base = this.database.all('SELECT * FROM records WHERE id = ?', last.base)[0] as unknown as Row | undefined;
      if (base === undefined || base.id >= last.id) return undefined;
      last = base;
    }
    try {
      for (const { id, base, payload } of chain.reverse()) {
        const dictionary = base === null ? undefined : known.get(base);
        known.set(id, decompress(payload, dictionary));
      }
    } catch {
      return undefined;
    }
    return known.get(row.id);
  }
}
