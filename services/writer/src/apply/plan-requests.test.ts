import type { Middleware } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { aSlice } from '../testing/plans.ts';
import { ScriptedCluster, unavailable } from '../testing/scripted-cluster.ts';
import { type PlanRequests, planRequests } from './plan-requests.ts';
import { defaultRetry } from './retry.ts';
import { type RequestLimit, SupersededError } from './schedule-requests.ts';

const { signal } = new AbortController();
const stop = new AbortController();
const slice = aSlice('a');
let clock: VirtualClock;
let cluster: ScriptedCluster;
let steps: string[];
let waitsWith: AbortSignal[];
let withdrawn: boolean;
let requests: PlanRequests;

beforeEach(() => {
  clock = new VirtualClock();
  cluster = new ScriptedCluster();
  steps = [];
  waitsWith = [];
  withdrawn = false;
  const limit: RequestLimit = {
    run(_priority, request, waitSignal) {
      steps.push('limit');
      waitsWith.push(waitSignal);
      return request();
    },
  };
  const trace: Middleware = (request, next) => {
    steps.push('trace');
    return next(request);
  };
  requests = planRequests({
    controller: 'endpointslice',
    writer: cluster,
    limit,
    observers: [trace],
    retry: {
      ...defaultRetry,
      ...{ clock, random: seededRandom(1), logger: () => silentLogger, onRetry: () => steps.push('retry') },
    },
    priority: 0,
    withdrawn: () => (withdrawn ? new SupersededError('superseded') : undefined),
    stop: stop.signal,
    requestSignal: signal,
    checks: [{ assert: () => void steps.push('check') }],
  });
});

/** Runs the timers of the request, however far the clock must advance. */
async function run<T>(request: Promise<T>): Promise<T> {
  request.catch(() => {});
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step());
  return request;
}

test('each attempt waits for a slot, then is checked', async () => {
  cluster.fails('create a', unavailable);
  await run(requests.retried.create('endpointslices', slice, signal));
  expect(steps).toEqual(['limit', 'trace', 'check', 'retry', 'limit', 'trace', 'check']);
});

test('a read that is sent once is not retried', async () => {
  cluster.fails('get a', unavailable);
  await expect(requests.once().get('endpointslices', 'shop', 'a', signal)).rejects.toBe(unavailable);
  expect(steps).toEqual(['limit', 'trace', 'check']);
});

test('a read does not start the plan, so it can still be withdrawn; a write does', async () => {
  cluster.objects.set('a', { metadata: { name: 'a' } });
  await requests.retried.get('endpointslices', 'shop', 'a', signal);
  withdrawn = true;
  await expect(requests.retried.create('endpointslices', slice, signal)).rejects.toThrow(SupersededError);
  withdrawn = false;
  await requests.retried.create('endpointslices', slice, signal);
  withdrawn = true;
  await requests.retried.update('endpointslices', slice, signal);
  expect(cluster.requests).toEqual(['get a', 'create a', 'update a']);
  expect(waitsWith).toEqual([stop.signal, stop.signal, stop.signal, signal]);
});
