import { recordingLogger } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { OutageLogger } from './kafkajs-logger.ts';

function create() {
  const logger = recordingLogger();
  const messages = () => logger.messages('info', 'warn', 'error');
  return { messages, outages: new OutageLogger(logger) };
}

test('logs an outage of several callers once, and its end when the last one recovers', () => {
  const { messages, outages } = create();
  for (const caller of ['a', 'b', 'a', 'b', 'a']) outages.failed(caller, new Error('connection refused'));
  expect(messages()).toEqual(['Kafka unavailable; retrying']);
  outages.recovered('a');
  outages.recovered('b');
  expect(messages()).toEqual(['Kafka unavailable; retrying', 'Kafka available again']);
});

test('does not log a request that fails once', () => {
  const { messages, outages } = create();
  for (const caller of ['a', 'b', 'a']) {
    outages.failed(caller, new Error('not the leader'));
    outages.recovered(caller);
  }
  expect(messages()).toEqual([]);
});
