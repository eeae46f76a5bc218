import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../index.ts';
import { advance, type RecordingLogger, recordingLogger } from '../testing/index.ts';
import { stopInOrder } from './shut-down.ts';

let clock: VirtualClock;
let done: string[];
let logger: RecordingLogger;

beforeEach(() => {
  clock = new VirtualClock(0);
  done = [];
  logger = recordingLogger();
});

const quick = (component: string) => ({ component, graceMs: 1_000, stop: () => void done.push(component) });
const hanging = (component: string) => ({ component, graceMs: 3_000, stop: () => new Promise(() => {}) });

test('components stop one after the other', async () => {
  const slow = Promise.withResolvers<void>();
  const stopping = stopInOrder([{ ...quick('a'), stop: () => slow.promise }, quick('b')], { clock, logger });
  await advance(clock, 500);
  expect(done).toEqual([]);
  slow.resolve();
  expect(await stopping).toEqual([]);
  expect(done).toEqual(['b']);
  expect(logger.messages('error')).toEqual([]);
});

test('a component that hangs is logged and skipped after its timeout', async () => {
  const stopping = stopInOrder([hanging('fleet'), quick('b')], { clock, logger });
  await advance(clock, 2_999);
  expect(done).toEqual([]);
  await advance(clock, 1);
  expect(await stopping).toEqual(['fleet']);
  expect(done).toEqual(['b']);
  expect(logger.fields('error')).toEqual([{ component: 'fleet', graceMs: 3_000 }]);
  expect(logger.messages('error')).toEqual(['shutdown timed out']);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
])('a component that %s does not keep the others from stopping', async (_, stop) => {
  expect(await stopInOrder([{ component: 'a', graceMs: 1, stop }, quick('b')], { clock, logger })).toEqual(['a']);
  expect(done).toEqual(['b']);
  expect(logger.fields('error')).toEqual([{ component: 'a', error: new Error('broken') }]);
  expect(logger.messages('error')).toEqual(['shutdown failed']);
});

test('a process with a leaked resource exits and logs the resource', async () => {
  const module = new URL('./shut-down.ts', import.meta.url);
  const script = `
    import { exitSoon } from ${JSON.stringify(module)};
    setInterval(() => {}, 1_000);
    exitSoon({ error: (text, { resources }) => console.error(text, resources) });
  `;
  const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  await expect(ended).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/exiting with open resources Timeout/),
  });
});

test('a process with a leaked resource that already fails exits without another line', async () => {
  const module = new URL('./shut-down.ts', import.meta.url);
  const script = `
    import { exitSoon } from ${JSON.stringify(module)};
    setInterval(() => {}, 1_000);
    process.exitCode = 2;
    exitSoon({ error: (text) => console.error(text) });
  `;
  const exited = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  await expect(exited).rejects.toMatchObject({ code: 2, stderr: '' });
});
