import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isServiceKey } from '@sluice/messages';
import { getOrCreate } from '@sluice/platform';
import { compress } from './compress.ts';
import { DeltaBases } from './delta-bases.ts';
import { FileProblems, type ProblemChange } from './problems/file-problems.ts';
import type { Propagation } from './propagations.ts';
import type { NewRecord } from './records.ts';
import { schema } from './schema.ts';

/** Ids that are kept in memory, of Services and of texts. */
const maxKnown = 50_000;

/** What a file says of itself. */
interface FileHead {
  /** When it begins, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Of the program. */
  readonly version: string;
  /** Names, addresses, labels and texts are replaced by pseudonyms. */
  readonly isRedacted: boolean;
}

/** Appends records to a new file. */
export class RecordingWriter {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #services = new Map<string, number>();
  readonly #texts = new Map<string, number>();
  /** Of the last record. The clock may be set back. */
  #lastAt = 0;
  readonly #bases = new DeltaBases();
  readonly #problems = new FileProblems();

  constructor(path: string, { now, version, isRedacted }: FileHead) {
    this.path = path;
    // It contains names and addresses of everything in the clusters. What SQLite creates beside it has the same mode.
    closeSync(openSync(path, 'wx', 0o600));
    const database = new DatabaseSync(path);
    this.#database = database;
    // A crash of the process loses no commit; a crash of the machine may lose the last ones.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304');
    database.exec(`BEGIN; ${schema}; COMMIT`);
    database.prepare('INSERT INTO recording VALUES (?, ?, ?, ?)').run(now, now, version, Number(isRedacted));
  }

  /** Appends all or none. `now`: everything until then was recorded. `open`: propagations that continue. */
  append(records: readonly NewRecord[], now: number, open: readonly Propagation[] = []): void {
    const database = this.#database;
    database.exec('BEGIN');
    try {
      for (const record of records) this.#append(record);
      for (const one of open) this.#appendPropagation(one);
      this.#prepare('UPDATE recording SET last_at = ?').run(now);
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      // Ids and bases of the batch may be among them.
      this.#services.clear();
      this.#texts.clear();
      this.#bases.clear();
      throw error;
    }
  }

  /** The name by which people know a cluster. */
  nameCluster(identity: string, name: string): void {
    this.#prepare('INSERT OR REPLACE INTO clusters VALUES (?, ?)').run(identity, name);
  }

  /** `open`: propagations that continue. */
  close(now: number, open: readonly Propagation[] = []): void {
    this.append([], now, open);
    try {
      // A file of its own, which can also be opened where nothing can be written.
      this.#database.exec('PRAGMA journal_mode = DELETE');
    } catch {
      // A reader has it open. The file stays as it is.
    }
    this.#database.close();
  }

  /** Closes the file after an error; what was committed stays. */
  abandon(): void {
    this.#database.close();
  }

  #append(record: NewRecord): void {
    const { key, receivedAt, topic, startsSnapshot, text, traceparent = null, payload, objects } = record;
    this.#lastAt = Math.max(this.#lastAt, receivedAt);
    const service = this.#idOf(this.#services, 'services', 'key', key);
    if (startsSnapshot) this.#bases.delete(service);
    const base = this.#bases.get(service, objects);
    const { lastInsertRowid } = this.#prepare(insertRecord).run(
      service,
      this.#lastAt,
      topic,
      Number(startsSnapshot),
      this.#idOf(this.#texts, 'texts', 'text', text),
      base?.id ?? null,
      traceparent,
      compress(payload, base?.payload),
    );
    for (const { object, before, after } of record.managerChanges) {
      const texts = [object, before, after].map((text) => this.#idOf(this.#texts, 'texts', 'text', text));
      this.#prepare('INSERT INTO manager_changes VALUES (?, ?, ?, ?, ?)').run(service, this.#lastAt, ...texts);
    }
    if (!isServiceKey(key)) this.#endProblemsOf(key);
    for (const change of this.#problems.observe(record)) this.#recordProblem(service, change);
    for (const propagation of record.propagations) this.#appendPropagation(propagation);
    this.#bases.set(service, objects, { id: Number(lastInsertRowid), payload });
  }

  #appendPropagation({ key, pod, place, from, to, event, startedAt, isStartKnown, endedAt, end }: Propagation): void {
    const id = (text: string) => this.#idOf(this.#texts, 'texts', 'text', text);
    const service = this.#idOf(this.#services, 'services', 'key', key);
    const texts = [pod, place, from, to, event].map(id);
    const ending = [endedAt, end === null ? null : id(end)];
    this.#prepare(insertPropagation).run(service, ...texts, startedAt, Number(isStartKnown), ...ending);
  }

  #recordProblem(service: number, change: ProblemChange): void {
    const id = (text: string) => this.#idOf(this.#texts, 'texts', 'text', text);
    const reason = id(change.reason);
    if (change.kind === 'ends') {
      const sql = 'UPDATE problems SET ended_at = ? WHERE service = ? AND reason = ? AND ended_at IS NULL';
      this.#prepare(sql).run(this.#lastAt, service, reason);
      return;
    }
    const { message, isContinued, event } = change;
    const sql =
      'INSERT INTO problems (service, reason, message, started_at, continued, event) VALUES (?, ?, ?, ?, ?, ?)';
    const texts = [id(message), this.#lastAt, Number(isContinued), event === undefined ? null : id(event)] as const;
    this.#prepare(sql).run(service, reason, ...texts);
  }

  /** Of a cluster that was removed. */
  #endProblemsOf(cluster: string): void {
    this.#problems.removeCluster(cluster);
    const sql =
      'UPDATE problems SET ended_at = ? WHERE ended_at IS NULL AND service IN (SELECT id FROM services WHERE substr(key, 1, ?) = ?)';
    this.#prepare(sql).run(this.#lastAt, cluster.length + 1, `${cluster}/`);
  }

  #idOf(known: Map<string, number>, table: 'services' | 'texts', column: string, value: string): number {
    const id = known.get(value);
    if (id !== undefined) return id;
    if (known.size >= maxKnown) known.clear();
    this.#prepare(`INSERT OR IGNORE INTO ${table} (${column}) VALUES (?)`).run(value);
    const row = this.#prepare(`SELECT id FROM ${table} WHERE ${column} = ?`).get(value);
    known.set(value, Number(row?.id));
    return Number(row?.id);
  }

  #prepare(sql: string): StatementSync {
    return getOrCreate(this.#statements, sql, () => this.#database.prepare(sql));
  }
}

const insertRecord =
  'INSERT INTO records (service, received_at, topic, snapshot, text, base, traceparent, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
const insertPropagation =
  'INSERT INTO propagations (service, pod, place, was, became, event, started_at, start_known, ended_at, "end") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
