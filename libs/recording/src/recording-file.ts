import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isServiceKey } from '@sluice/messages';
import { errorMessage, getOrCreate } from '@sluice/platform';
import { decompress } from './compress.ts';
import type { FileProblem } from './problems/joined-problems.ts';
import { problemReasons } from './problems/problem-reasons.ts';
import type { Appearance, Propagation } from './propagations.ts';
import type { NodeQuery, PropagationQuery, RecordedPeriod, RecordedRange, ServiceQuery } from './queries.ts';
import type { RecordedTopic, StoredRecord } from './records.ts';
import { applicationId, schemaVersion } from './schema.ts';

/** Where a record is in its file. */
export interface Position {
  readonly id: number;
  readonly at: number;
}

/** A damaged file may contain anything. */
const isTime = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= 8.64e15;

/** The beginning of a file. */
export const fileStart: Position = { id: 0, at: 0 };

interface PropagationRow extends Omit<Propagation, 'from' | 'to' | 'isStartKnown'> {
  readonly was: Appearance;
  readonly became: Appearance;
  readonly known: number;
}

/** As it is indexed; null: the propagation continues. */
const duration = 'ended_at - started_at';
/** Few propagations take longer, in milliseconds. */
const longMs = 60_000;
const many = 5_000;

const isOneService = (keys: string): boolean => !keys.includes('%');

/** A condition with the pattern as its only parameter. */
function ofServices(keys: string): string {
  if (keys === '%/%/%') return '? IS NOT NULL';
  if (isOneService(keys)) return 'service = (SELECT id FROM services WHERE key = ?)';
  return '+service IN (SELECT id FROM services WHERE key LIKE ?)';
}

/** How often a Pod became ready or not ready. */
export interface ReadinessChanges {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly pod: string;
  readonly changes: number;
  /** In milliseconds since the Unix epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** How often another field manager than before wrote one object of a Service: the one that changed most often. */
export interface ManagerChanges {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly changes: number;
  /** In milliseconds since the Unix epoch. */
  readonly firstAt: number;
  /** Two of the managers. */
  readonly before: string;
  readonly after: string;
}

/** Why a file cannot be read, for people. */
export class UnreadableRecordingError extends Error {
  override readonly name = 'UnreadableRecordingError';
}

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

/** @throws UnreadableRecordingError */
export function openToRead(path: string): RecordingFile {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const pragma = (name: string) => Number(Object.values(database?.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    if (pragma('application_id') !== applicationId) {
      throw new UnreadableRecordingError(`${path} is not a recording of sluice`);
    }
    const version = pragma('user_version');
    if (version > schemaVersion) {
      const known = `this one reads up to ${schemaVersion}`;
      throw new UnreadableRecordingError(`${path} has format ${version} of a newer sluice; ${known}; upgrade sluice`);
    }
    return new RecordingFile(path, database);
  } catch (error) {
    database?.close();
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): UnreadableRecordingError {
  if (error instanceof UnreadableRecordingError) return error;
  return new UnreadableRecordingError(`cannot read recording ${path}: ${truncation(path) ?? errorMessage(error)}`);
}

/** Whether a part of the file is missing, for people: SQLite only says that it is malformed. */
function truncation(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      // The header has the size of a page, where 1 stands for 65536, and the number of pages.
      const header = Buffer.alloc(32);
      if (readSync(file, header) < header.length || !header.toString('latin1').startsWith('SQLite format 3'))
        return undefined;
      const pageSize = header.readUInt16BE(16);
      const expected = (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28);
      const { size } = fstatSync(file);
      return size < expected ? `it is truncated: ${size} of ${expected} bytes; copy it again` : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** A record with the formatted key of its Service, or the identity of its cluster. */
export interface KeyedRecord extends StoredRecord {
  readonly key: string;
}

const rowsPerRead = 500;

/** Reads one file. Every method throws UnreadableRecordingError if the file is damaged there. */
export class RecordingFile {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.#database = database;
  }

  /** Time that the file covers. */
  get period(): RecordedPeriod {
    const { from, to } = this.#get('SELECT started_at AS "from", last_at AS "to" FROM recording');
    if (isTime(from) && isTime(to) && from <= to) return { from, to };
    throw new UnreadableRecordingError(
      `cannot read recording ${this.path}: the times of its start and end are damaged`,
    );
  }

  /** Whether names, addresses, labels and texts are replaced by pseudonyms. */
  get isRedacted(): boolean {
    // Earlier files of the format do not have the column.
    return Number(this.#get('SELECT * FROM recording').redacted ?? 0) === 1;
  }

  /** Names of the clusters, by identity. */
  get clusterNames(): ReadonlyMap<string, string> {
    return new Map(this.#all('SELECT * FROM clusters').map(({ identity, name }) => [String(identity), String(name)]));
  }

  /**
   * The last snapshot of the Service from which all records since `since` follow, or the last `records` of them until `until`.
   * Undefined: none; `count` is the number of its records until then.
   */
  start(
    key: string,
    { since, until, records }: RecordedRange,
  ): { readonly start: Position | undefined; readonly count: number } {
    const service = this.#serviceId(key);
    if (service === undefined) return { start: undefined, count: 0 };
    const ofService = `SELECT id, received_at AS at FROM records WHERE service = ${service}`;
    const newestFirst = 'ORDER BY received_at DESC, id DESC LIMIT 1';
    const [edge] = this.#all(
      `${ofService} AND received_at <= ? ${newestFirst} OFFSET ?`,
      until,
      Math.max(0, records - 1),
    );
    const starts = [since, ...(edge === undefined ? [] : [Number(edge.at)])].flatMap((at) =>
      this.#all(`${ofService} AND snapshot = 1 AND received_at <= ? ${newestFirst}`, Math.min(at, until)),
    );
    const start = (starts as unknown as readonly Position[]).toSorted((a, b) => a.id - b.id).at(-1);
    if (start !== undefined) return { start, count: records };
    const counted = this.#get(
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
    const [service = -1, cluster = -1] = [key, key.slice(0, key.indexOf('/'))].map((one) => this.#serviceId(one));
    const rows = this.#all(
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
      const rows = this.#all(
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
    const texts = this.#all(`SELECT id FROM texts WHERE instr('; ' || text, ?)`, start).map(({ id }) => id);
    // Most files have none, and their records need not be read.
    if (texts.length === 0) return;
    const named = JSON.stringify(texts);
    for (let last = 0; ; ) {
      const rows = this.#all(
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
    const rows = this.#ofServices(
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

  /**
   * Propagations that overlap with a period, from a duration on: the first ones of the query and perhaps more. `at`: until when
   * those count that continue.
   */
  propagations({ from, to, keys, atLeastMs, isOpen, isStartKnown, sort, limit }: PropagationQuery, at: number) {
    const common = `${ofServices(keys)} AND ${isStartKnown ? 'start_known' : 'true'}`;
    const find = (where: string, order: string, ...values: readonly number[]) =>
      this.#ofServices(
        `SELECT key, pods.text AS pod, places.text AS place, befores.text AS was, afters.text AS became,
           events.text AS event, started_at AS "startedAt", start_known AS known, ended_at AS "endedAt", ends.text AS "end"
         FROM (SELECT * FROM propagations WHERE ${where} AND ${common} ORDER BY ${order} LIMIT ?)
           JOIN services ON services.id = service
           JOIN texts AS pods ON pods.id = pod
           JOIN texts AS places ON places.id = place
           JOIN texts AS befores ON befores.id = was
           JOIN texts AS afters ON afters.id = became
           JOIN texts AS events ON events.id = event
           LEFT JOIN texts AS ends ON ends.id = "end"`,
        ...[...values, keys, limit],
      );
    const rows: Record<string, unknown>[] = [];
    const continuesSince = Math.min(to, at - atLeastMs);
    if (at >= from) rows.push(...find(`${duration} IS NULL AND started_at <= ?`, 'started_at', continuesSince));
    if (!isOpen) {
      const order = `${sort === 'longest' ? duration : 'ended_at'} DESC`;
      const ended = (where: string, ...values: readonly number[]) =>
        rows.push(...find(`${where} AND ended_at >= ? AND ${duration} >= ?`, order, ...values, from, atLeastMs));
      if (isOneService(keys)) ended('started_at <= ?', to);
      // The first ones in this order are soon found. A plus keeps SQLite from another index.
      else if (sort === 'longest' && this.#hasMany(from, to)) ended('+started_at <= ?', to);
      else {
        ended(`+started_at <= ? AND ${duration} >= ${longMs}`, to);
        ended(`started_at BETWEEN ? AND ? AND +(${duration}) < ${longMs}`, from - longMs, to);
      }
    }
    return (rows as unknown as readonly PropagationRow[]).map(
      ({ was, became, known, ...row }): Propagation => ({ ...row, from: was, to: became, isStartKnown: known === 1 }),
    );
  }

  /** Whether many propagations begin in a period. */
  #hasMany(from: number, to: number): boolean {
    const sql = `SELECT 1 FROM propagations WHERE started_at BETWEEN ? AND ? LIMIT 1 OFFSET ${many}`;
    return this.#all(sql, from, to).length > 0;
  }

  /** How often each Pod became ready or not ready in a period. */
  readinessChanges({ from, to, keys }: ServiceQuery): readonly ReadinessChanges[] {
    const rows = this.#ofServices(
      `SELECT key, pods.text AS pod, changes, "firstAt", "lastAt"
       FROM (
         SELECT service, pod, count(*) AS changes, min(started_at) AS "firstAt", max(started_at) AS "lastAt"
         FROM propagations
         WHERE started_at BETWEEN ? AND ? AND ${ofServices(keys)} AND start_known AND place = ${this.#textId('slices')}
           AND was IN (${this.#readiness()}) AND became IN (${this.#readiness()})
         GROUP BY service, pod
       ) JOIN services ON services.id = service JOIN texts AS pods ON pods.id = pod`,
      ...[from, to, keys],
    );
    return rows as unknown as readonly ReadinessChanges[];
  }

  /** How often another field manager than before wrote the objects of each Service in a period. */
  managerChanges({ from, to, keys }: ServiceQuery): readonly ManagerChanges[] {
    const rows = this.#ofServices(
      `SELECT key, max(changes) AS changes, "firstAt", befores.text AS "before", afters.text AS "after"
       FROM (
         SELECT service, count(*) AS changes, min(received_at) AS "firstAt", was, became
         FROM manager_changes WHERE received_at BETWEEN ? AND ? GROUP BY service, object
       )
         JOIN services ON services.id = service
         JOIN texts AS befores ON befores.id = was
         JOIN texts AS afters ON afters.id = became
       WHERE key LIKE ? GROUP BY service`,
      ...[from, to, keys],
    );
    return rows as unknown as readonly ManagerChanges[];
  }

  /** How long it took until slices showed that ready Pods were no longer, in milliseconds by Service. */
  removals({ from, to, keys }: ServiceQuery): ReadonlyMap<string, readonly number[]> {
    const removals = new Map<string, number[]>();
    const rows = this.#ofServices(
      `SELECT key, ended_at - started_at AS ms FROM propagations JOIN services ON services.id = service
       WHERE started_at BETWEEN ? AND ? AND ${ofServices(keys)} AND start_known AND place = ${this.#textId('slices')}
         AND was = ${this.#textId('ready')} AND became IN (${this.#textId('terminating')}, ${this.#textId('absent')})
         AND "end" = ${this.#textId('written')}`,
      ...[from, to, keys],
    );
    for (const { key, ms } of rows) getOrCreate(removals, String(key), () => []).push(Number(ms));
    return removals;
  }

  #readiness(): string {
    return [this.#textId('ready'), this.#textId('not ready')].join();
  }

  /** -1: no record has this text. */
  #textId(text: string): number {
    return Number(this.#all('SELECT id FROM texts WHERE text = ?', text)[0]?.id ?? -1);
  }

  /** When each Service was first published whole until a time, by formatted key. */
  firstSnapshots(until: number): ReadonlyMap<string, number> {
    // One lookup for each Service, however many snapshots it has.
    const rows = this.#ofServices(
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
    this.#database.close();
  }

  #serviceId(key: string): number | undefined {
    const row = this.#all('SELECT id FROM services WHERE key = ?', key)[0];
    return row === undefined ? undefined : Number(row.id);
  }

  /** Undefined if it is damaged. Bases precede their records, so `known` has most of them. */
  #payload(row: Row, known: Map<number, Uint8Array>): Uint8Array | undefined {
    if (!isTime(row.received_at) || !['changes', 'mutations'].includes(row.topic)) return undefined;
    const chain = [row];
    for (let last = row; last.base !== null && !known.has(last.base); chain.push(last)) {
      const base = this.#all('SELECT * FROM records WHERE id = ?', last.base)[0] as unknown as Row | undefined;
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

  #get(sql: string, ...values: (number | string)[]): Record<string, unknown> {
    const row = this.#all(sql, ...values)[0];
    if (row === undefined)
      throw new UnreadableRecordingError(`cannot read recording ${this.path}: a record is missing`);
    return row;
  }

  /** Rows about Services, without those whose key is damaged. */
  #ofServices(sql: string, ...values: (number | string)[]): readonly Record<string, unknown>[] {
    return this.#all(sql, ...values).filter(({ key }) => isServiceKey(String(key)));
  }

  #all(sql: string, ...values: (number | string)[]): readonly Record<string, unknown>[] {
    try {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }
}
