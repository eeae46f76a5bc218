import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeServingCertificate } from '@sluice/local';
import { VirtualClock } from '@sluice/platform';
import { advance, type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConsoleSecrets, rereadConsole } from './reread-console.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-reread-'));
const pairs: { readonly cert: string; readonly key: string }[] = [];
let clock: VirtualClock;
let logger: RecordingLogger;
let applied: ConsoleSecrets[];
let given: ConsoleSecrets;

beforeAll(async () => {
  for (const name of ['old', 'new']) {
    const files = await makeServingCertificate(directory, name);
    pairs.push({ cert: readFileSync(files.certificate, 'utf8'), key: readFileSync(files.key, 'utf8') });
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(() => {
  clock = new VirtualClock(0);
  logger = recordingLogger();
  applied = [];
});

function start(initial: ConsoleSecrets): () => void {
  given = initial;
  return rereadConsole({
    ...{ initial, clock, logger, reread: () => ({ console: given }) },
    apply: (secrets) => void applied.push(secrets),
  });
}

const none: ConsoleSecrets = { token: undefined, tls: undefined };

test('a changed token is applied once, and nothing without a change', async () => {
  start({ ...none, token: 'old' });
  await advance(clock, 60_000);
  given = { ...none, token: 'new' };
  await advance(clock, 60_000);
  await advance(clock, 60_000);
  expect(applied).toEqual([{ token: 'new', tls: undefined }]);
});

test('a certificate is applied once it matches its key', async () => {
  const [old, fresh] = pairs;
  if (old === undefined || fresh === undefined) throw new Error('no certificates');
  start({ ...none, tls: old });
  given = { ...none, tls: { cert: fresh.cert, key: old.key } };
  await advance(clock, 60_000);
  expect(applied).toEqual([]);
  expect(logger.messages('warn')).toEqual(['cannot reread configuration; keeping the previous secrets']);
  given = { ...none, tls: fresh };
  await advance(clock, 60_000);
  expect(applied).toEqual([{ token: undefined, tls: fresh }]);
});

test('a token is neither removed nor added, which would open or close the console', async () => {
  const stop = start({ ...none, token: 'old' });
  given = none;
  await advance(clock, 60_000);
  stop();
  start(none);
  given = { ...none, token: 'new' };
  await advance(clock, 60_000);
  expect(applied).toEqual([]);
});

test('nothing is read after the end', async () => {
  const stop = start({ ...none, token: 'old' });
  given = { ...none, token: 'new' };
  stop();
  await advance(clock, 120_000);
  expect(applied).toEqual([]);
});
