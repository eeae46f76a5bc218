import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance, recordingLogger } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { keepRunning } from './keep-running.ts';

test('a server that exits is started again, also after a failure, until it is stopped', async () => {
  const clock = new VirtualClock(0);
  const logger = recordingLogger();
  const stop = new AbortController();
  let starts = 0;
  let exit = Promise.withResolvers<void>();
  const keeping = keepRunning(
    {
      name: 'Redis',
      ended: () => exit.promise,
      async restart() {
        starts++;
        if (starts === 1) throw new Error('port in use');
        exit = Promise.withResolvers();
      },
    },
    { clock, random: seededRandom(1), logger },
    stop.signal,
  );
  await advance(clock, 60_000);
  expect(starts).toBe(0);
  exit.resolve();
  await advance(clock, 60_000);
  expect(starts).toBe(2);
  expect(logger.messages('error')).toEqual(['cannot start server; trying again']);
  exit.resolve();
  await advance(clock, 0);
  expect(starts).toBe(3);
  stop.abort();
  await keeping;
});
