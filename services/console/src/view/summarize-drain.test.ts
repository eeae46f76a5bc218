import { aPodNamed } from '@sluice/model/testing';
import { expect, test } from 'vitest';
import { summarizeDrain } from './summarize-drain.ts';

const name = { cluster: 'uid', clusterName: 'west', namespace: 'shop', name: 'web' };
const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);
const pod = (preStop: readonly string[], gracePeriodSeconds = 30) =>
  aPodNamed('web-1', { details: { owner: '', disruption: '', gracePeriodSeconds, preStop, containers: [] } });

test('measures the slices and adds the assumed delay of the proxies', () => {
  expect(summarizeDrain({ ...name, times: [1_100, ...times(98, 4), 900] }, [], 2_000)).toEqual({
    ...name,
    ...{ removals: 100, p50Ms: 4, p99Ms: 900, maxMs: 1_100, proxyDelayMs: 2_000, neededSeconds: 3 },
    ...{ preStop: [], gracePeriodSeconds: null, isLongEnough: null },
  });
  expect(summarizeDrain({ ...name, times: [7] }, [], 0)).toMatchObject({ p50Ms: 7, p99Ms: 7, neededSeconds: 1 });
});

test.each([
  ['none', false, [pod(['', ''])]],
  ['sleep 2 s', false, [pod(['sleep 2 s'])]],
  ['sleep 3 s', true, [pod(['', 'sleep 3 s'])]],
  ['exec', null, [pod(['exec'])]],
  ['exec, none', false, [pod(['exec']), pod([''])]],
  ['sleep 2 s, sleep 9 s', false, [pod(['sleep 9 s']), pod(['sleep 2 s'])]],
  ['exec, sleep 9 s', null, [pod(['sleep 9 s']), pod(['exec'])]],
])('whether the hooks %s are long enough for 3 s is %j', (hooks, isLongEnough, pods) => {
  const drain = summarizeDrain({ ...name, times: [500] }, pods, 2_000);
  expect(drain).toMatchObject({ neededSeconds: 3, gracePeriodSeconds: 30, isLongEnough });
  expect(drain.preStop.join(', ')).toBe(hooks);
});

test('the grace period ends a hook', () => {
  const drain = summarizeDrain({ ...name, times: [500] }, [pod(['sleep 9 s'], 2), pod(['sleep 9 s'])], 2_000);
  expect(drain).toMatchObject({ gracePeriodSeconds: 2, isLongEnough: false });
});
