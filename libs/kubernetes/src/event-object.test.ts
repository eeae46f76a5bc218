import type { EventToRecord } from '@sluice/model';
import { seededRandom } from '@sluice/platform';
import { expect, test } from 'vitest';
import { eventObject, timestamp } from './event-object.ts';

const at = Date.parse('2026-01-01T00:00:00.700Z');
const event = (given: Partial<EventToRecord> = {}): EventToRecord => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpoint',
  message: 'no',
  regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'u' },
  ...given,
});
const object = (given?: Partial<EventToRecord>, seed = 1) =>
  eventObject(event(given), 'endpoint-controller', { count: 3, firstAt: at - 60_000, lastAt: at }, seededRandom(seed));

test('an Event has the fields that upstream’s recorder sets', () => {
  const { metadata, ...rest } = object();
  expect(metadata).toEqual({ namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]+$/) });
  expect(rest).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web', uid: 'u' },
    type: 'Warning',
    reason: 'FailedToUpdateEndpoint',
    message: 'no',
    source: { component: 'endpoint-controller' },
    reportingComponent: 'endpoint-controller',
    reportingInstance: '',
    firstTimestamp: '2025-12-31T23:59:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 3,
  });
});

test('Events at the same time have different names', () => {
  const names = [1, 2, 3, 4].map((seed) => object({}, seed).metadata.name);
  expect(new Set(names).size).toBe(4);
  // Whole numbers: a dot would separate the name in another way.
  for (const name of names) expect(name.split('.')).toHaveLength(2);
});

test('a long name and a long message are cut to what the API server accepts', () => {
  const { metadata, message } = object({
    message: 'x'.repeat(5_000),
    regarding: { kind: 'Service', namespace: 'shop', name: 'n'.repeat(253) },
  });
  expect(metadata.name.length).toBeLessThanOrEqual(253);
  expect(metadata.name).toMatch(/^n{230}\.[0-9a-f]+$/);
  expect(message).toBe('x'.repeat(1_024));
});

test('a timestamp has whole seconds', () => {
  expect(timestamp(at)).toBe('2026-01-01T00:00:00Z');
  expect(timestamp(at + 300)).toBe('2026-01-01T00:00:01Z');
});
