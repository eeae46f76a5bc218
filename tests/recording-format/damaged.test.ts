import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { formatServiceKey } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { exportLines, exportRecording, RecordingReader } from '@sluice/recording';
import { findProblems } from '@sluice/recording/problems';
import { openRecording } from '@sluice/sluice/testing/recordings';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { goldenFile, latestVersion } from './format.ts';

const golden = readFileSync(goldenFile(latestVersion));
let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-damaged-'));
  directory = join(root, 'recording');
  mkdirSync(directory);
});

afterEach(() => rmSync(root, { recursive: true }));

/** Writes a file of the recording: the later the number, the later the file. */
function write(number: number, bytes: Uint8Array): string {
  const path = join(directory, `sluice-20260115T09000000${number}Z.sqlite`);
  writeFileSync(path, bytes);
  return path;
}

interface Use {
  readonly services: number;
  readonly exported: number;
  readonly unreadable: readonly string[];
}

const everything = { from: 0, to: Number.MAX_SAFE_INTEGER, keys: '%' };

/** Reads and exports everything, as the commands do. */
async function use(path: string): Promise<Use> {
  const unreadable: string[] = [];
  const onUnreadable = (reason: string) => void unreadable.push(reason);
  const opened = await openRecording(path, { clock: new VirtualClock(1e12), onProgress: () => {}, onUnreadable });
  const { recording, history } = opened;
  const limit = 1_000;
  const shown = { atLeastMs: 0, isOpen: false, isStartKnown: false, sort: 'longest', limit } as const;
  await findProblems(recording, { ...everything, isOpen: false, isAtEnd: true, all: true });
  await recording.propagations({ ...everything, ...shown });
  await recording.readinessChanges({ ...everything, limit });
  await recording.removals(everything);
  await recording.nodeDisruptions({ ...everything, limit });
  for (const { key } of history.journals) {
    await recording.records(formatServiceKey(key), { since: 0, until: everything.to, records: limit });
    await recording.pods(formatServiceKey(key), everything, limit);
  }
  opened.play(opened.period.from).advance(everything.to);
  opened.close();

  const reader = new RecordingReader(path, onUnreadable);
  const selection = { period: { from: 0, to: 8e15 }, isWanted: () => true, version: '', logger: silentLogger };
  exportLines(reader, { ...selection, isRedacted: false, format: 'jsonl', write: () => {} });
  const targets = [false, true].map((isRedacted) => {
    const target = join(root, `export-${isRedacted}`);
    rmSync(target, { recursive: true, force: true });
    return exportRecording(reader, { ...selection, isRedacted, directory: target });
  });
  reader.close();
  return { services: history.size, exported: targets[0]?.records ?? 0, unreadable: [...new Set(unreadable)] };
}

/** As `use`; undefined if the recording cannot be opened, for a reason that names it. */
async function tryUse(path: string): Promise<Use | undefined> {
  try {
    return await use(path);
  } catch (error) {
    expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(path) });
    return undefined;
  }
}

/** The golden file after a statement. */
function edited(sql: string): Uint8Array {
  const path = join(root, 'edited.sqlite');
  writeFileSync(path, golden);
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; ${sql}`);
  database.close();
  return readFileSync(path);
}

function foreign(): Uint8Array {
  const path = join(root, 'foreign.sqlite');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE records (id INTEGER PRIMARY KEY)');
  database.close();
  return readFileSync(path);
}

test('the golden file is read without a complaint', async () => {
  const { services, exported, unreadable } = await use(write(1, golden));
  expect([services, unreadable]).toEqual([4, []]);
  expect(exported).toBeGreaterThan(100);
});

const newer = latestVersion + 1;
const wholeFiles: readonly (readonly [string, () => Uint8Array, string])[] = [
  ['empty', () => Buffer.alloc(0), 'is not a recording of sluice'],
  ['of another program', foreign, 'is not a recording of sluice'],
  ['no database', () => Buffer.from('x'.repeat(5_000)), 'file is not a database'],
  ['of a newer version', () => edited(`PRAGMA user_version = ${newer}`), `has format ${newer} of a newer sluice`],
  ['without its period', () => edited('DELETE FROM recording'), 'a record is missing'],
  ['of no time', () => edited('UPDATE recording SET last_at = 1e300'), 'times of its start and end are damaged'],
  ...[100, 5_000, 40_000, golden.length - 5_000].map(
    (size) =>
      [
        `truncated to ${size} bytes`,
        () => golden.subarray(0, size),
        `truncated: ${size} of ${golden.length} bytes; copy it again`,
      ] as const,
  ),
];

describe.each(wholeFiles)('a file that is %s', (_, bytes, reason) => {
  test('is named by the error on its own', async () => {
    const path = write(1, bytes());
    await expect(use(path)).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(reason) });
  });

  test('is named, and hides no other file', async () => {
    const path = write(1, bytes());
    const intact = await use(write(2, golden));
    const { unreadable, ...found } = await use(directory);
    expect(unreadable).toEqual([expect.stringContaining(reason)]);
    expect(unreadable[0]).toContain(path);
    expect({ ...found, unreadable: [] }).toEqual(intact);
  });
});

const payload = (text: string) => `x'${zstdCompressSync(Buffer.from(text)).toString('hex')}'`;

describe('a damaged part of a file hides no other part', () => {
  test.each([
    ['a record is the base of itself', 'UPDATE records SET base = id WHERE id = 20'],
    ['a record has a later base', 'UPDATE records SET base = id + 1 WHERE id = 20'],
    ['a base is missing', 'UPDATE records SET base = 100000 WHERE id = 20'],
    ['a payload is empty', 'UPDATE records SET payload = zeroblob(0) WHERE id = 20'],
    ['a payload is a text', "UPDATE records SET payload = 'text' WHERE id = 20"],
    [
      'a payload is too large',
      `UPDATE records SET base = NULL, payload = ${payload('x'.repeat(65 * 1024 ** 2))} WHERE id = 20`,
    ],
    ['a topic is unknown', "UPDATE records SET topic = 'change' WHERE id = 20"],
    ['a time is a text', "UPDATE records SET received_at = 'x' WHERE id = 20"],
  ])('%s', async (_, sql) => {
    const path = write(1, edited(sql));
    const { services, exported, unreadable } = await use(path);
    expect(services).toBe(4);
    expect(exported).toBeGreaterThan(50);
    expect(unreadable).toContainEqual(expect.stringMatching(/^\/.*: \d+ damaged records?$/));
  });

  test.each(['problems', 'propagations', 'manager_changes', 'clusters'])('the table %s is missing', async (table) => {
    const { services, exported, unreadable } = await use(write(1, edited(`DROP TABLE ${table}`)));
    expect(unreadable).toEqual([expect.stringContaining(`no such table: ${table}`)]);
    expect([services, exported > 100]).toEqual([4, true]);
  });

  test.each([
    ["UPDATE services SET key = 'nonsense' WHERE id = 1", 3],
    ["UPDATE services SET key = 'a//' WHERE id = 1", 3],
    ["UPDATE texts SET text = 'x' || id", 4],
    ['DELETE FROM texts', 4],
    ['DELETE FROM services', 0],
    ["UPDATE propagations SET started_at = 'x', ended_at = x'00'", 4],
    ["UPDATE problems SET started_at = 'x'", 4],
    ["UPDATE clusters SET name = x'00ff'", 4],
  ])('%s', async (sql, services) => {
    expect((await use(write(1, edited(sql)))).services).toBe(services);
  });

  test.each(['{}', 'null', '[]', '1', 'x', '{"kind":"change","key":{},"facts":[null]}'])(
    'the message %s',
    async (text) => {
      await use(write(1, edited(`UPDATE records SET base = NULL, payload = ${payload(text)}`)));
    },
  );
});

test('a file with any changed bytes is read as far as possible', async () => {
  const random = seededRandom(1);
  let used = 0;
  for (let i = 0; i < 40; i++) {
    const bytes = Buffer.from(golden);
    const at = Math.floor(random.next() * bytes.length);
    if (i % 2 === 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << (i % 8));
    else bytes.fill(Math.floor(random.next() * 256), at, at + 64);
    const found = await tryUse(write(1, bytes));
    if (found !== undefined) used++;
  }
  expect(used).toBeGreaterThan(20);
});
