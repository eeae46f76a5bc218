import { expect, test } from 'vitest';
import { type AuditedWrite, violationsIn } from './harness/election/election-audit.ts';

const write = (user: string, at: number, given: Partial<AuditedWrite> = {}): AuditedWrite => ({
  ...{ user, request: 'update /x', resource: 'endpoints', name: 'web', receivedAt: at, endedAt: at, status: 200 },
  ...given,
});
const renewal = (user: string, at: number) => write(user, at, { resource: 'leases', name: 'leader' });
const violations = (...audited: AuditedWrite[]) =>
  violationsIn(audited, { leaseName: 'leader', leaseDurationMs: 15_000 });

test('one leader after the other is no violation', () => {
  expect(violations(renewal('a', 0), write('a', 14_000), renewal('b', 15_100), write('b', 15_200))).toEqual([]);
});

test.each([
  ['a write that was received after the lease had expired', [write('a', 15_001)], 'its lease expired'],
  ['even if it was refused', [write('a', 15_001, { status: 409 })], 'its lease expired'],
  ['a write that ended after the lease had expired', [write('a', 14_000, { endedAt: 15_001 })], 'its lease expired'],
  [
    'a write after that of the next leader',
    [write('a', 10), renewal('b', 20), write('b', 30), write('a', 40)],
    'b wrote',
  ],
  ['a write without a lease', [write('c', 10)], 'its lease expired'],
])('%s is one', (_, writes, message) => {
  expect(violations(renewal('a', 0), ...writes)).toEqual([expect.stringContaining(message)]);
});
