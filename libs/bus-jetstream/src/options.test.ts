import { expect, test } from 'vitest';
import { type JetStreamBusOptions, settings } from './options.ts';

const good: JetStreamBusOptions = { servers: ['nats://localhost:4222'], partitions: 64 };

const wrong: readonly [what: string, options: Partial<JetStreamBusOptions>, complaint: RegExp][] = [
  ['no server', { servers: [] }, /no NATS server is given/],
  ['credentials in the address', { servers: ['nats://sluice:secret@host:4222'] }, /must not hold credentials/],
  ['a fleet with a dot', { fleet: 'a.b' }, /fleet "a.b"/],
  ['no partition', { partitions: 0 }, /0 partitions/],
  ['two copies', { replicas: 2 }, /2 replicas: 1, 3 or 5/],
  ['an age below the duplicate window', { maxAgeMs: { requests: 1000 } }, /requests: records must be kept/],
];

test.each(wrong)('%s is refused with a reason', (_, options, complaint) => {
  expect(() => settings({ ...good, ...options })).toThrow(complaint);
});

test('a refused address is not shown: it holds the secret', () => {
  try {
    settings({ ...good, servers: ['nats://sluice:secret@host:4222'] });
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ code: 'BUS_OPTIONS' });
    expect(String(error)).not.toContain('secret');
  }
});

test('what is given for one topic leaves the others as they are', () => {
  const { maxBytes } = settings({ ...good, maxBytes: { changes: 1 } });
  expect(maxBytes).toEqual({ changes: 1, mutations: 64 * 1024 * 1024, requests: 16 * 1024 * 1024 });
});
