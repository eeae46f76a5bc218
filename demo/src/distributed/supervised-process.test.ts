import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import { SupervisedProcess } from './supervised-process.ts';

let clock: VirtualClock;
let exit: ((reason: string) => void)[];
let exited: number[];
let supervised: SupervisedProcess;

beforeEach(() => {
  clock = new VirtualClock();
  exit = [];
  exited = [];
  const start = () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const pid = exit.push(resolve);
    const stop = async () => resolve('SIGTERM');
    return { pid, exited: promise, stop };
  };
  const onExit = (pid: number) => void exited.push(pid);
  supervised = new SupervisedProcess({
    ...{ name: 'writer-1', start, onExit },
    ...{ clock, random: seededRandom(1), logger: silentLogger },
  });
});

test('a killed process is replaced at once if it had run for a while', async () => {
  await advance(clock, 10_000);
  exit[0]?.('SIGKILL');
  await advance(clock, 0);
  expect(exited).toEqual([1]);
  expect(supervised.pid).toBe(2);
});

test('a process that keeps exiting is replaced with growing delays', async () => {
  for (let n = 0; n < 6; n++) {
    exit[n]?.('exit status 1');
    await advance(clock, 250 * 2 ** n);
    expect(supervised.pid).toBe(n + 2);
  }
  exit[6]?.('exit status 1');
  await advance(clock, 250);
  expect(supervised.pid).toBe(7);
});

test('wrong usage fails instead of restarting', async () => {
  exit[0]?.('exit status 2');
  expect(await supervised.failed).toBe('writer-1 exited: exit status 2');
  expect(exited).toEqual([]);
});

test('a stopped process is not replaced', async () => {
  await supervised.stop();
  await advance(clock, 60_000);
  expect(exit).toHaveLength(1);
});
