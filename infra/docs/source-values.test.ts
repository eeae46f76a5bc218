import { expect, test } from 'vitest';
import { constantIn, setting, written } from './source-values.ts';

const code = `
const maxBytes = 8 * 1024 ** 2;
const retry: Backoff = { baseMs: 400, maxMs: (60 + 1) * 1_000 } as const;
class Reader { #size = 3; read(pageSize = 500) { const { periodMs = maxBytes / 2 } = this; } }
const idle = options.idle ?? 150_000;
const text = 'v1.2.3';
const computed = now();
`;

test.each([
  ['maxBytes', 8 * 1024 ** 2],
  ['retry.maxMs', 61_000],
  ['pageSize', 500],
  ['periodMs', 4 * 1024 ** 2],
  ['idle', 150_000],
  ['text', 'v1.2.3'],
])('%s is read from the source', (name, value) => {
  expect(constantIn(code, name)).toBe(value);
});

test.each(['computed', 'none', 'retry.none'])('%s is no constant', (name) => {
  expect(() => constantIn(code, name)).toThrow(`no constant ${name}`);
});

test('a setting has the kind of its default', () => {
  expect(setting('leases.ttl')).toEqual({ kind: 'duration', value: 900, source: 'default of leases.ttl' });
  expect(setting('bus.maxBytes.requests')).toMatchObject({ kind: 'size', value: 16 * 1024 ** 2 });
  expect(setting('bus.replicas', 1)).toMatchObject({ kind: 'count', value: 3 });
  expect(() => setting('bus.none')).toThrow('the setting bus.none has no default');
});

test('a number that is written in a file is quoted with its place', () => {
  expect(
    written('duration', 'infra/prometheus/alerts.yaml', /sluice_parked_services\) > 0\s+for: (\d+)m/, 60_000),
  ).toEqual({
    kind: 'duration',
    value: 900_000,
    source: '"sluice_parked_services) > 0 for: 15m" in infra/prometheus/alerts.yaml',
  });
});
