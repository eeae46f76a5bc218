import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The files of each version of the format: a directory for each. */
const goldenFiles = import.meta.dirname;

export const goldenVersions: readonly number[] = readdirSync(goldenFiles).flatMap((name) => {
  const [, version] = /^v(\d+)$/.exec(name) ?? [];
  return version === undefined ? [] : Number(version);
});

export const latestVersion = Math.max(...goldenVersions);

export const goldenFile = (version: number): string => join(goldenFiles, `v${version}`, 'recording.sqlite');
export const goldenAnswers = (version: number): string => join(goldenFiles, `v${version}`, 'answers.json');

/** The only recording in a directory. */
export function recordingIn(directory: string): string {
  const [name = '', ...others] = readdirSync(directory).filter((one) => one.startsWith('sluice-'));
  if (name === '' || others.length > 0) throw new Error(`${directory} has ${others.length} recordings, not one`);
  return join(directory, name);
}

/** What a reader of a file depends on. */
export interface Format {
  readonly applicationId: number;
  readonly version: number;
  /** The statement that creates each table, index and view, without comments. */
  readonly objects: Readonly<Record<string, string>>;
  /** By table or view. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
}

export function formatOf(path: string): Format {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const pragma = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    const objects = database.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL').all();
    const named = objects.map(({ type, name, sql }) => [`${type} ${name}`, withoutComments(String(sql))] as const);
    const tables = objects.filter(({ type }) => type !== 'index').map(({ name }) => String(name));
    const columnsOf = (table: string) => database.prepare(`PRAGMA table_info("${table}")`).all();
    return {
      applicationId: pragma('application_id'),
      version: pragma('user_version'),
      objects: Object.fromEntries(named),
      columns: Object.fromEntries(
        tables.map((table) => [table, columnsOf(table).map(({ name }) => String(name))] as const),
      ),
    };
  } finally {
    database.close();
  }
}

const withoutComments = (sql: string): string => sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ');
