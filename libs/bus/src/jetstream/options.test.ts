import { expect, test } from 'vitest';
import { inboxPrefix, type JetStreamBusOptions, settings } from './options.ts';

const valid: JetStreamBusOptions = { servers: ['nats://localhost:4222'], partitions: 64 };

const invalid: readonly [name: string, options: Partial<JetStreamBusOptions>, message: RegExp][] = [
  ['no server', { servers: [] }, /no NATS server given/],
  ['credentials in the address', { servers: ['nats://sluice:secret@host:4222'] }, /must not contain credentials/],
  ['a fleet with a dot', { fleet: 'a.b' }, /invalid fleet name "a.b"/],
  ['no partitions', { partitions: 0 }, /number of partitions 0/],
  ['two replicas', { replicas: 2 }, /number of replicas 2; use 1, 3 or 5/],
  ['an age below the duplicate window', { maxAgeMs: { requests: 1000 } }, /max age of requests is less/],
];

test.each(invalid)('rejects %s', (_, options, message) => {
  expect(() => settings({ ...valid, ...options })).toThrow(message);
});

test('does not show credentials of a rejected address', () => {
  try {
    settings({ ...valid, servers: ['nats://sluice:secret@host:4222'] });
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ code: 'BUS_OPTIONS' });
    expect(String(error)).not.toContain('secret');
  }
});

test('a limit for one topic keeps the defaults of the others', () => {
  const { maxBytes } = settings({ ...valid, maxBytes: { changes: 1 } });
  expect(maxBytes).toEqual({ changes: 1, mutations: 64 * 1024 * 1024, requests: 16 * 1024 * 1024 });
});

test('receives replies under the name of the user, or of the fleet whatever its logs are called', () => {
  const prefix = (options: Partial<JetStreamBusOptions>) => inboxPrefix(settings({ ...valid, ...options }));
  const logs = { fleet: 'west-g1', inboxOwner: 'west' };
  expect(prefix({})).toBe('_INBOX_sluice');
  expect(prefix(logs)).toBe('_INBOX_west');
  expect(prefix({ ...logs, credentials: { token: 'secret' } })).toBe('_INBOX_west');
  expect(prefix({ ...logs, credentials: { user: 'west-worker', password: 'secret' } })).toBe('_INBOX_west-worker');
});
