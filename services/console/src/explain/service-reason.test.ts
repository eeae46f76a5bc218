import type { Fact } from '@sluice/messages';
import { expect, test } from 'vitest';
import { anOutcome, aPlan, journalOf, pod, service, sliceOf, snapshot } from '../testing/records.ts';
import { serviceReason } from './service-reason.ts';

const stateOf = (...facts: Fact[]) => journalOf(snapshot(1, 1_000, facts)).state;
const unready = {
  ready: false,
  readyTransitionTime: '2026-06-01T12:00:00Z',
  unready: { status: 'False', reason: 'ContainersNotReady', message: 'containers with unready status: [app]' },
};

test('of a Service that is ok is empty', () => {
  expect(serviceReason(stateOf(service(), pod('web-1', unready)), 'ok', '')).toBe('');
});

test('is why Pods that are ready get no traffic, if there is such a reason', () => {
  expect(serviceReason(stateOf(service(), pod('web-1', unready)), 'degraded', 'port http: none')).toBe(
    'port http: none',
  );
});

test('names the selector that matches no Pod', () => {
  expect(serviceReason(stateOf(service({ selector: { app: 'wbe' } })), 'empty', '')).toBe(
    'No Pod matches: the Service has selector app=wbe',
  );
});

test('names the first Pod that is not ready, and how many more there are', () => {
  const facts = [
    service(),
    pod('web-3', unready),
    pod('web-1', unready),
    pod('web-2', { terminal: true, ready: false }),
  ];
  expect(serviceReason(stateOf(...facts), 'degraded', '')).toBe(
    'web-1 and 1 more are not ready (ContainersNotReady: containers with unready status: [app])',
  );
});

test('names a Pod that is deleted only if no other is left', () => {
  const leaving = pod('web-1', { ready: false, terminating: true });
  expect(serviceReason(stateOf(service(), leaving, pod('web-2', unready)), 'empty', '')).toMatch(/^web-2 is not ready/);
  expect(serviceReason(stateOf(service(), leaving), 'empty', '')).toBe('web-1 is being deleted, and no other is left');
});

test('is what the API server said of a write that it refuses', () => {
  const plan = aPlan(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready: true }) }]);
  const refused = { ...anOutcome(1, 1_020, 1_000, []), status: 'rejected' as const, results: [], message: 'denied' };
  const { state } = journalOf(snapshot(1, 1_000, [service(), pod('web-1', {})]), plan, refused);
  expect(serviceReason(state, 'refused', '')).toBe('denied');
});
