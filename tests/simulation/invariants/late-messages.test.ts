import type { BusRecord } from '@sluice/bus';
import { beforeEach, expect, test } from 'vitest';
import { LateMessages } from './late-messages.ts';

const chunk = (id: string): BusRecord => ({
  ...{ key: 'c/shop/web', id, payload: new Uint8Array() },
  headers: { 'Sluice-Chunk': '0/2/9/9' },
});
const message = [chunk('a/chunk/9/0-2'), chunk('a')];
let now: number;
let late: LateMessages;

beforeEach(() => {
  now = 0;
  late = new LateMessages(() => now);
});

test('a message whose chunks are retried for longer than readers wait is late', () => {
  late.sent(message);
  now = 600;
  late.sent(message);
  now = 1_000;
  late.appended(message);
  now = 11_000;
  expect(late.isRecent).toBe(true);
  now = 11_001;
  expect(late.isRecent).toBe(false);
});

test('no other message is late', () => {
  late.sent(message);
  late.sent([{ ...chunk('b'), headers: {} }]);
  now = 999;
  late.appended(message);
  now = 5_000;
  late.appended([{ ...chunk('b'), headers: {} }]);
  expect(late.isRecent).toBe(false);
});
