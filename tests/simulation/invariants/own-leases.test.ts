import { VirtualClock } from '@sluice/platform';
import { type Heartbeat, type Leases, MemoryLeases } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { leaseTimes } from '../fleet.ts';
import { OwnLeases } from './own-leases.ts';

let clock: VirtualClock;
let own: OwnLeases;
let leases: Leases;
/** Latency of answers, in milliseconds. */
let answerMs: number;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  own = new OwnLeases(() => clock.now(), leaseTimes.ttlMs);
  answerMs = 0;
  const memory = new MemoryLeases(clock);
  leases = own.leases({
    heartbeat: async (heartbeat) => {
      const state = await memory.heartbeat(heartbeat);
      clock.skipTo(clock.now() + answerMs);
      return state;
    },
    leave: (group, member) => memory.leave(group, member),
    state: (group) => memory.state(group),
    watch: (group, onChange) => memory.watch(group, onChange),
  });
});

const beat = (given: Partial<Heartbeat>) =>
  leases.heartbeat({ group: 'writer', member: 'a', ttlMs: leaseTimes.ttlMs, release: [], acquire: [], ...given });
const refusal = (scope = '0') => own.refusal('writer', 'a', scope);

test('a lease counts from the heartbeat, not from its answer', async () => {
  answerMs = 400;
  await beat({ acquire: ['0'] });
  clock.skipTo(1_000 + leaseTimes.ttlMs);
  expect(refusal()).toBeUndefined();
  clock.skipTo(1_001 + leaseTimes.ttlMs);
  expect(refusal()).toBe('1 ms after its leases have expired by its own clock');
});

test('a lease that was never acquired, is released or is lost does not count', async () => {
  await beat({ acquire: ['0', '1'] });
  expect(refusal('2')).toBe('without the lease of 2');
  await beat({ release: ['0'] });
  clock.skipTo(1_001);
  expect([refusal('0'), refusal('1')]).toEqual(['without the lease of 0', undefined]);
  await beat({ acquire: ['0'] });
  expect(refusal('0')).toBeUndefined();
  await leases.leave('writer', 'a');
  clock.skipTo(1_002);
  expect(refusal('1')).toBe('without the lease of 1');
});
