import { expect, test } from 'vitest';
import { slowWriteText } from './spent-text.ts';

const inMs = (ms: number) => `${ms} ms`;

test('says what held a slow write, and where the rest of its time went', () => {
  const spent = [
    { where: 'batch period', ms: 1_800 },
    { where: 'plan in flight', ms: 200 },
    { where: 'writer queue', ms: 40 },
    { where: 'API server', ms: 60 },
  ] as const;
  expect(slowWriteText({ spent, latencyMs: 2_100 }, inMs)).toBe(
    'took 2100 ms: held 1800 ms by the batch period, held 200 ms by a plan in flight, API server 60 ms',
  );
});

test('is empty if that is not known', () => {
  expect(slowWriteText({ latencyMs: 2_100 }, inMs)).toBe('');
  expect(slowWriteText({ spent: [{ where: 'API server', ms: 60 }], latencyMs: null }, inMs)).toBe('');
});
