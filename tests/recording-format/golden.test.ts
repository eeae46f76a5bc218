import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answersOf } from './answers.ts';
import { formatOf, goldenAnswers, goldenFile, goldenVersions, recordingIn } from './format.ts';
import { recordShop } from './record-shop.ts';

let directory: string;
/** A file as it is written now. */
let written: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-format-'));
  await recordShop(join(directory, 'recording'));
  written = recordingIn(join(directory, 'recording'));
});

afterAll(() => rmSync(directory, { recursive: true }));

describe.each(goldenVersions)('a file of format %d', (version) => {
  const bytes = () => readFileSync(goldenFile(version));

  test('answers every question as it did, and stays as it is', async () => {
    const before = bytes();
    const answers = `${JSON.stringify(await answersOf(goldenFile(version)), null, 2)}\n`;
    await expect(answers).toMatchFileSnapshot(goldenAnswers(version));
    expect(bytes().equals(before)).toBe(true);
  });

  test('names its format', () => {
    expect(formatOf(goldenFile(version))).toMatchObject({ applicationId: 0x53_6c_75_69, version });
  });
});

describe('the format', () => {
  test('changes only with a new version and its golden files', () => {
    const now = formatOf(written);
    const advice =
      'raise schemaVersion in libs/recording/src/schema.ts, run "node_modules/.bin/node tests/recording-format/write-golden.ts", ' +
      'and commit what it writes; golden files of earlier versions stay';
    expect(goldenVersions, advice).toContain(now.version);
    expect(now, advice).toEqual(formatOf(goldenFile(now.version)));
  });

  test('is recorded the same each time', async () => {
    const again = join(directory, 'again');
    await recordShop(again);
    expect(rowsOf(recordingIn(again))).toEqual(rowsOf(written));
  });

  test('is what the reference says', () => {
    const reference = readFileSync(join(import.meta.dirname, '../../docs/reference/recording.md'), 'utf8');
    const rows = reference.matchAll(/^\| `([a-z_]+)` +\| ((?:`[a-z_]+`(?:, )?)+) +\|$/gm);
    const documented = [...rows].map(([, table, columns = '']) => [table, columns.match(/[a-z_]+/g)] as const);
    expect(Object.fromEntries(documented)).toEqual(formatOf(written).columns);
  });
});

test('a file of format 1 from before it named redaction answers the same', async () => {
  const file = join(directory, 'earlier.sqlite');
  copyFileSync(goldenFile(1), file);
  const database = new DatabaseSync(file);
  database.exec('ALTER TABLE recording DROP COLUMN redacted; DROP INDEX propagations_by_start');
  database.close();
  const answers: unknown = JSON.parse(JSON.stringify(await answersOf(file)));
  expect(answers).toEqual(JSON.parse(readFileSync(goldenAnswers(1), 'utf8')));
});

/** Of all tables. */
function rowsOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const rows = tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]);
  database.close();
  return rows;
}
