import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isServiceKey } from '@sluice/messages';
import { errorMessage } from '@sluice/platform';
import { applicationId, schemaVersion } from './schema.ts';

/** Why a file cannot be read, for people. */
export class UnreadableRecordingError extends Error {
  override readonly name = 'UnreadableRecordingError';
}

type Value = number | string;

/** A file of a recording, to read. Every method throws UnreadableRecordingError if the file is damaged there. */
export class RecordingDatabase {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.#database = database;
  }

  /** @throws UnreadableRecordingError */
  static open(path: string): RecordingDatabase {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { readOnly: true });
      checkFormat(path, database);
      return new RecordingDatabase(path, database);
    } catch (error) {
      database?.close();
      throw unreadable(path, error);
    }
  }

  get(sql: string, ...values: Value[]): Record<string, unknown> {
    const row = this.all(sql, ...values)[0];
    if (row === undefined)
      throw new UnreadableRecordingError(`cannot read recording ${this.path}: a record is missing`);
    return row;
  }

  /** Rows about Services, without those whose key is damaged. */
  ofServices(sql: string, ...values: Value[]): readonly Record<string, unknown>[] {
    return this.all(sql, ...values).filter(({ key }) => isServiceKey(String(key)));
  }

  all(sql: string, ...values: Value[]): readonly Record<string, unknown>[] {
    try {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      return statement.all(...values);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  /** -1: no record has this text. */
  textId(text: string): number {
    return Number(this.all('SELECT id FROM texts WHERE text = ?', text)[0]?.id ?? -1);
  }

  /** `key`: formatted key of a Service, or identity of a cluster. */
  serviceId(key: string): number | undefined {
    const row = this.all('SELECT id FROM services WHERE key = ?', key)[0];
    return row === undefined ? undefined : Number(row.id);
  }

  close(): void {
    this.#database.close();
  }
}

function checkFormat(path: string, database: DatabaseSync): void {
  const pragma = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  if (pragma('application_id') !== applicationId) {
    throw new UnreadableRecordingError(`${path} is not a recording of sluice`);
  }
  const version = pragma('user_version');
  if (version > schemaVersion) {
    const known = `this one reads up to ${schemaVersion}`;
    throw new UnreadableRecordingError(`${path} has format ${version} of a newer sluice; ${known}; upgrade sluice`);
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
