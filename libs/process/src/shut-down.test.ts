import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type LogFields, type Logger, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { beforeEach, expect, test } from 'vitest';
import { endInOrder } from './shut-down.ts';

let clock: VirtualClock;
let done: string[];
let logged: (readonly [string, LogFields | undefined])[];
let logger: Logger;

beforeEach(() => {
  clock = new VirtualClock(0);
  done = [];
  logged = [];
  logger = { ...silentLogger, error: (text, fields) => void logged.push([text, fields]) };
});

const quick = (what: string) => ({ what, graceMs: 1_000, end: () => void done.push(what) });
const never = (what: string) => ({ what, graceMs: 3_000, end: () => new Promise(() => {}) });

test('each begins when the one before has ended', async () => {
  const slow = Promise.withResolvers<void>();
  const ending = endInOrder([{ ...quick('a'), end: () => slow.promise }, quick('b')], { clock, logger });
  await advance(clock, 500);
  expect(done).toEqual([]);
  slow.resolve();
  expect(await ending).toEqual([]);
  expect(done).toEqual(['b']);
  expect(logged).toEqual([]);
});

test('one that does not end is named and left behind after its time', async () => {
  const ending = endInOrder([never('the fleet'), quick('b')], { clock, logger });
  await advance(clock, 2_999);
  expect(done).toEqual([]);
  await advance(clock, 1);
  expect(await ending).toEqual(['the fleet']);
  expect(done).toEqual(['b']);
  expect(logged).toEqual([[expect.stringContaining('in time'), { what: 'the fleet', graceMs: 3_000 }]]);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
])('one that %s keeps none of the others from their end', async (_, end) => {
  expect(await endInOrder([{ what: 'a', graceMs: 1, end }, quick('b')], { clock, logger })).toEqual(['a']);
  expect(done).toEqual(['b']);
  expect(logged).toEqual([[expect.stringContaining('could not'), { what: 'a', error: new Error('broken') }]]);
});

test('a process that something keeps alive after its work ends all the same, and says what', async () => {
  const module = new URL('./shut-down.ts', import.meta.url);
  const script = `
    import { leaveSoon } from ${JSON.stringify(module)};
    setInterval(() => {}, 1_000);
    leaveSoon({ error: (text, { open }) => console.error(text, open) });
  `;
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/still open.*Timeout/) });
});
