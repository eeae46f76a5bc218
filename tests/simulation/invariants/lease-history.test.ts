import { expect, test } from 'vitest';
import { areLeasesLinearizable, type LeaseRequest } from './lease-history.ts';
import type { Operation } from './linearizability.ts';

const never = Number.POSITIVE_INFINITY;
const times = { ttlMs: 10, isSteady: true };

/** A heartbeat for scope 0, answered with the token of the member's lease. Undefined: without an answer. */
function heartbeat(member: string, at: number, token: number | undefined, acquire = false): Operation<LeaseRequest> {
  const group = { group: 'reconciler', member, ttlMs: times.ttlMs };
  const leases =
    token === undefined ? undefined : [{ scope: '0', holder: member, fencingToken: token, started: false }];
  const isAnswered = leases !== undefined;
  return {
    ...{ calledAt: at, returnedAt: isAnswered ? at + 0.5 : never },
    operation: {
      ...{ member, sentAt: at, answeredAt: isAnswered ? at + 0.5 : never },
      heartbeat: { ...group, acquire: acquire ? ['0'] : [], release: [] },
      answer: leases && { members: [], leases },
    },
  };
}

test('a lease that was acquired by a request without an answer had expired before', () => {
  const history = [heartbeat('a', 0, 1, true), heartbeat('b', 11, undefined, true), heartbeat('b', 12, 2)];
  expect(areLeasesLinearizable(history, '0', times)).toBe(true);
});

test('a member that acquires its expired lease without an answer has a new token', () => {
  const history = [
    ...[heartbeat('a', 0, 1, true), heartbeat('a', 5, undefined), heartbeat('a', 16, undefined, true)],
    heartbeat('a', 17, 2),
  ];
  expect(areLeasesLinearizable(history, '0', times)).toBe(true);
});

test('a lease that nobody can have acquired keeps its token', () => {
  const history = [heartbeat('a', 0, 1, true), heartbeat('a', 5, undefined), heartbeat('a', 16, 2)];
  expect(areLeasesLinearizable(history, '0', times)).toBe(false);
});

test('a lease that has not expired is not acquired, whatever has no answer', () => {
  const history = [heartbeat('a', 0, 1, true), heartbeat('b', 5, undefined, true), heartbeat('b', 6, 2)];
  expect(areLeasesLinearizable(history, '0', times)).toBe(false);
});
