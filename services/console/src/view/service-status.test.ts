import type { Fact } from '@sluice/messages';
import type { Endpoint, Pod } from '@sluice/model';
import { expect, test } from 'vitest';
import { journalOf, pod, service, sliceFact, sliceOf, snapshot } from '../testing/records.ts';
import { summarize } from './summarize.ts';

const noon = Date.parse('2026-06-01T12:00:00Z');
const second = 1_000;
const policy = { afterMs: 60 * second, below: 0.5 };

type PodState = 'ready' | 'unready' | 'terminating' | 'new';

const pods: Readonly<Record<PodState, Partial<Pod>>> = {
  ready: { ready: true },
  unready: { ready: false, readyTransitionTime: '2026-06-01T12:00:00Z' },
  new: { ready: false, readyTransitionTime: null },
  terminating: { ready: false, terminating: true },
};

function endpointOf(name: string, state: PodState): Endpoint {
  const conditions = { ready: state === 'ready', serving: state === 'ready', terminating: state === 'terminating' };
  return { addresses: ['10.0.0.1'], conditions, targetRef: { kind: 'Pod', namespace: 'shop', name, uid: name } };
}

/** Of shop/web with Pods web-0, web-1 and so on, `seconds` after the Pods became not ready. */
function summaryAt(seconds: number, ...states: PodState[]) {
  const named = states.map((state, index) => ({ state, name: `web-${index}` }));
  const facts: Fact[] = named.map(({ state, name }) => pod(name, pods[state]));
  const endpoints = named.map(({ state, name }) => endpointOf(name, state));
  const slice = { ...sliceOf('web-0', { version: '9', ready: true }), endpoints };
  const { state, entries } = journalOf(snapshot(1, noon, [service(), ...facts, sliceFact(slice)]));
  return summarize({ at: noon + seconds * second, state, entries }, 'prod', policy);
}

test.each<[string, number, PodState[]]>([
  ['ok', 0, ['ready', 'ready']],
  ['ok', 600, ['ready', 'ready', 'terminating', 'terminating', 'terminating']],
  ['rolling', 59, ['ready', 'ready', 'unready']],
  ['degraded', 60, ['ready', 'ready', 'unready']],
  ['rolling', 59, ['ready', 'unready']],
  ['degraded', 1, ['ready', 'unready', 'unready']],
  ['rolling', 1, ['ready', 'ready', 'new']],
  ['empty', 1, ['unready', 'unready']],
  ['empty', 1, ['terminating']],
])('is %s after %i s with Pods that are %j', (status, seconds, states) => {
  expect(summaryAt(seconds, ...states).summary.status).toBe(status);
});

test('a rolling Service becomes degraded a minute after its first Pod became not ready', () => {
  expect(summaryAt(10, 'ready', 'unready').until).toBe(noon + 60 * second);
  expect(summaryAt(10, 'ready', 'ready').until).toBe(Number.POSITIVE_INFINITY);
});

test('custom endpoints without Pods are degraded at once', () => {
  const slice = { ...sliceOf('', { version: '9', ready: true }) };
  const endpoints = [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'], conditions: { ready: false } }];
  const facts = [service({ selector: null }), sliceFact({ ...slice, endpoints })];
  const { state, entries } = journalOf(snapshot(1, noon, facts));
  expect(summarize({ at: noon, state, entries }, 'prod', policy).summary.status).toBe('degraded');
});
