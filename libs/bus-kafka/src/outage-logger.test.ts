import type { Logger } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { OutageLogger } from './outage-logger.ts';

function create() {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const logger: Logger = { debug: () => {}, info: log, warn: log, error: log, with: () => logger };
  return { lines, outages: new OutageLogger(logger) };
}

test('logs an outage of several callers once, and its end when the last one recovers', () => {
  const { lines, outages } = create();
  for (const caller of ['a', 'b', 'a', 'b', 'a']) outages.failed(caller, new Error('connection refused'));
  expect(lines).toEqual(['Kafka unavailable; retrying']);
  outages.recovered('a');
  outages.recovered('b');
  expect(lines).toEqual(['Kafka unavailable; retrying', 'Kafka available again']);
});

test('does not log a request that fails once', () => {
  const { lines, outages } = create();
  for (const caller of ['a', 'b', 'a']) {
    outages.failed(caller, new Error('not the leader'));
    outages.recovered(caller);
  }
  expect(lines).toEqual([]);
});
