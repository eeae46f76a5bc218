import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../index.ts';
import { advance } from '../testing/index.ts';
import { showWait } from './show-wait.ts';

let written: string[];
let clock: VirtualClock;
const output = (isTTY: boolean) => ({ isTTY, write: (text: string) => written.push(text) });

beforeEach(() => {
  written = [];
  clock = new VirtualClock();
});

async function waitFor(ms: number, isTTY: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = showWait('connecting', promise, { clock, output: output(isTTY) });
  await advance(clock, ms);
  resolve('answer');
  return waiting;
}

test('a long wait shows on a terminal, and is erased', async () => {
  expect(await waitFor(3_500, true)).toBe('answer');
  await advance(clock, 10_000);
  expect(written).toEqual(['\rconnecting, 2 s ', '\rconnecting, 3 s ', '\r\u001b[K']);
});

test('a text wider than the terminal is shortened, because only one line is erased', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = showWait('x'.repeat(80), promise, { clock, output: { ...output(true), columns: 60 } });
  await advance(clock, 2_500);
  resolve();
  await waiting;
  expect(written).toEqual([`\r${'x'.repeat(53)}…, 2 s `, '\r\u001b[K']);
});

test('a short one does not', async () => {
  await waitFor(1_900, true);
  await advance(clock, 10_000);
  expect(written).toEqual([]);
});

test('nothing shows in a pipe', async () => {
  await waitFor(10_000, false);
  expect(written).toEqual([]);
});

test('a failed wait is erased, and its error passed on', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = expect(showWait('connecting', promise, { clock, output: output(true) })).rejects.toThrow('refused');
  await advance(clock, 2_500);
  reject(new Error('refused'));
  await waiting;
  expect(written.at(-1)).toBe('\r\u001b[K');
});
