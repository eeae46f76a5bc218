import { chainWriter, type Middleware } from '@sluice/kubernetes';
import type { AdditionEvidence, PlannedMutations, ReadyEndpointsDelta, RemovalEvidence } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CheckResult } from '../confirmation/fresh-read.ts';
import { type Direction, MassChangeGuard } from '../confirmation/mass-change-guard.ts';
import { SupersededError } from '../may-write.ts';
import type { RequestLimit } from '../scheduling/request-limit.ts';
import { aPlan, aSlice, update } from '../testing/plans.ts';
import { apiError, conflict, forbidden, ScriptedCluster, unavailable } from '../testing/scripted-cluster.ts';
import type { CompetingControllerDetection, WritableCluster } from '../writable-cluster.ts';
import { applyPlan, defaultRetry, type PlanRequests, planRequests, retryTransientErrors } from './apply-plan.ts';
import type { CompetingWrite } from './find-competing-write.ts';

describe('apply plan', () => {
  const { signal } = new AbortController();
  let cluster: ScriptedCluster;
  /** With the writer's own identity, and without retries. */
  let own: ScriptedCluster;
  let once: ScriptedCluster;
  let checked: string[];
  let guards: Pick<WritableCluster, 'massChangeGuards' | 'competingControllers'>;

  beforeEach(() => {
    [cluster, own, once] = [new ScriptedCluster(), new ScriptedCluster(), new ScriptedCluster()];
    checked = [];
    const guard = (direction: Direction) =>
      new MassChangeGuard(direction, {
        ...{ percent: 25, clock: new VirtualClock(0) },
        onChecked: (result: CheckResult) => void checked.push(`${direction} ${result}`),
      });
    guards = { massChangeGuards: [guard('removal'), guard('addition')] };
    own.objects.set('web', { metadata: { name: 'web', namespace: 'shop' }, spec: { selector: { app: 'web' } } });
    store('True');
    const metadata = { name: 'a', managedFields: [{ manager: 'mesh', time: '2026-01-01T00:00:05Z' }] };
    once.objects.set('a', { metadata });
  });

  function store(ready: 'True' | 'False'): void {
    own.objects.set('p', {
      metadata: { name: 'p', namespace: 'shop', uid: 'u', labels: { app: 'web' } },
      spec: {},
      status: { phase: 'Running', podIP: '10.1.0.1', podIPs: [], conditions: [{ type: 'Ready', status: ready }] },
    });
  }

  const apply = (plan: PlannedMutations) =>
    applyPlan(plan, {
      cluster: guards,
      requests: { retried: cluster, ownIdentity: () => own, once: () => once },
      partition: 0,
      requestSignal: signal,
    });
  const change = (ready: ReadyEndpointsDelta) => apply(aPlan([[update('a')]], { ready }));

  const gone: RemovalEvidence = { kind: 'pod', name: 'p', uid: 'u' };
  const removal = { delta: -90, total: 100, evidence: [gone] };
  const added = (address: string): AdditionEvidence => ({ kind: 'pod', name: 'p', uid: 'u', address });
  const addition = (address: string): ReadyEndpointsDelta => ({
    ...{ delta: 0, total: 100, repeated: true, added: { count: 90, evidence: [added(address)] } },
  });

  describe('a change of a large share of the cluster', () => {
    test('is applied if the cluster confirms it, which is asked with the writer’s own identity', async () => {
      store('False');
      expect((await change(removal)).status).toBe('applied');
      expect((await change(addition('10.1.0.1'))).status).toBe('applied');
      expect(checked).toEqual(['removal confirmed', 'addition confirmed']);
      expect(cluster.requests).toEqual(['update a', 'update a']);
      expect([...new Set(own.requests)].sort()).toEqual(['get p', 'get web']);
    });

    test('is held back if the cluster refutes it', async () => {
      expect(await change({ ...removal, repeated: true })).toMatchObject({
        status: 'rejected',
        message: expect.stringMatching(/^removal held/),
      });
      expect(await change(addition('10.9.9.9'))).toMatchObject({
        message: expect.stringMatching(/^addition held back/),
      });
      expect(checked).toEqual(['removal refuted', 'addition refuted']);
      expect(cluster.requests).toEqual([]);
    });

    test('is held back if it removes and adds, and only one of both is refuted', async () => {
      store('False');
      const { message } = await change({ ...addition('10.9.9.9'), ...removal });
      expect(message).toContain('addition held back');
      expect(checked).toEqual(['removal confirmed', 'addition refuted']);
    });

    test('is applied without guards', async () => {
      guards = {};
      expect((await change({ ...addition('10.9.9.9'), ...removal })).status).toBe('applied');
      expect(own.requests).toEqual([]);
    });
  });

  test('a small change is not checked', async () => {
    expect((await change({ ...removal, delta: -1 })).status).toBe('applied');
    expect([checked, own.requests]).toEqual([[], []]);
  });

  test('a plan that is held back counts for both guards', async () => {
    const both = { ...removal, delta: -40, added: { count: 90, evidence: [added('10.1.0.1')] } };
    expect(await change(both)).toMatchObject({ status: 'conflict', heldBack: true });
    store('False');
    expect((await change({ delta: 0, total: 60, added: { count: 1, evidence: [added('10.1.0.1')] } })).status).toBe(
      'applied',
    );
    expect(checked).toEqual(['removal overtaken', 'addition confirmed']);
  });

  describe('a competing controller', () => {
    const write = { object: 'endpointslices shop/a', manager: 'mesh', at: '2026-01-01T00:00:05.000Z' };
    let competing: CompetingWrite[];
    let conflicting: CompetingWrite[];

    const detect = (given: Partial<CompetingControllerDetection> = {}) => {
      [competing, conflicting] = [[], []];
      guards = {
        competingControllers: {
          ownManager: 'sluice',
          onCompetingWrite: (_, found) => void competing.push(found),
          onConflict: (_, found) => void conflicting.push(found),
          ...given,
        },
      };
    };

    test('is reported if a plan repairs its changes again and again, and does not keep the plan from being applied', async () => {
      detect();
      expect((await apply(aPlan([[update('a')]], { consecutiveRepairs: 5 }))).status).toBe('applied');
      expect([competing, conflicting]).toEqual([[write], []]);
      expect([once.requests, cluster.requests]).toEqual([['get a'], ['update a']]);
    });

    test('is not looked for otherwise', async () => {
      detect();
      await apply(aPlan([[update('a')]]));
      await apply(aPlan([], { consecutiveRepairs: 5 }));
      guards = {};
      await apply(aPlan([[update('a')]], { consecutiveRepairs: 5 }));
      expect([once.requests, competing]).toEqual([[], []]);
    });

    test('is reported after a conflict if that is to be investigated', async () => {
      detect({ investigatesConflict: () => true });
      cluster.fails('update a', conflict, forbidden);
      expect((await apply(aPlan([[update('a')]]))).status).toBe('conflict');
      expect((await apply(aPlan([[update('a')]]))).status).toBe('rejected');
      expect((await apply(aPlan([[update('a')]]))).status).toBe('applied');
      expect([competing, conflicting]).toEqual([[], [write]]);
    });

    test('is not reported after a conflict if nobody investigates, or no other manager wrote the object', async () => {
      detect({ investigatesConflict: () => false });
      cluster.fails('update a', conflict, conflict, conflict);
      await apply(aPlan([[update('a')]]));
      detect();
      await apply(aPlan([[update('a')]]));
      expect(once.requests).toEqual([]);
      detect({ investigatesConflict: () => true, ownManager: 'mesh' });
      await apply(aPlan([[update('a')]]));
      expect([once.requests, conflicting]).toEqual([['get a'], []]);
    });
  });
});

describe('plan requests', () => {
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
      onSend: () => steps.push('send'),
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
    expect(steps).toEqual(['limit', 'send', 'trace', 'check', 'retry', 'limit', 'send', 'trace', 'check']);
  });

  test('a read that is sent once is not retried', async () => {
    cluster.fails('get a', unavailable);
    await expect(requests.once().get('endpointslices', 'shop', 'a', signal)).rejects.toBe(unavailable);
    expect(steps).toEqual(['limit', 'send', 'trace', 'check']);
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
});

describe('retry', () => {
  const done = { metadata: { name: 'web', namespace: 'shop' } };
  let clock: VirtualClock;
  let stop: AbortController;
  let logged: number;

  beforeEach(() => {
    clock = new VirtualClock();
    stop = new AbortController();
  });

  /** Runs a request that fails with `errors` in turn. Returns when it was attempted and how it ended. */
  async function tries(errors: readonly unknown[], { random = seededRandom(1), attempts = 4, permitted = 9 } = {}) {
    const at: number[] = [];
    let retries = 0;
    logged = 0;
    const left = [...errors];
    const get = async () => {
      at.push(clock.now());
      const error = left.shift();
      if (error !== undefined) throw error;
      return done;
    };
    const ports = {
      clock,
      random,
      logger: () => {
        logged++;
        return silentLogger;
      },
      mayRetry: () => retries < permitted,
      onRetry: () => retries++,
    };
    const retry = retryTransientErrors({ ...defaultRetry, attempts, ...ports }, stop.signal);
    const writer = chainWriter(Object.assign(new ScriptedCluster(), { get }), retry);
    const ended = writer.get('endpoints', 'shop', 'web', stop.signal).catch((error: unknown) => error);
    do await new Promise((resolve) => setImmediate(resolve));
    while (clock.step());
    return { at, retries, ended: await ended };
  }

  const delays = (at: readonly number[]) => at.slice(1).map((time, i) => time - (at[i] ?? 0));

  test('a retry that exceeds the limit of all retries is left to the reconciler', async () => {
    const tried = await tries(Array(9).fill(unavailable), { permitted: 1 });
    expect(tried).toMatchObject({ ended: unavailable, retries: 1, at: { length: 2 } });
  });

  test('transient errors are retried up to the maximum number of attempts', async () => {
    expect(await tries([unavailable, unavailable])).toMatchObject({ ended: done, retries: 2, at: { length: 3 } });
    expect(await tries(Array(9).fill(unavailable))).toMatchObject({
      ended: unavailable,
      retries: 3,
      at: { length: 4 },
    });
    expect(await tries([unavailable], { attempts: 1 })).toMatchObject({ ended: unavailable, retries: 0 });
  });

  test.each([conflict, forbidden, new TypeError('bug')])('%s is not retried', async (error) => {
    expect(await tries([error])).toMatchObject({ ended: error, retries: 0, at: { length: 1 } });
  });

  describe('the delay', () => {
    test('grows exponentially with jitter within its bounds', async () => {
      for (let seed = 1; seed <= 50; seed++) {
        const { at } = await tries(Array(3).fill(unavailable), { random: seededRandom(seed) });
        for (const [i, delay] of delays(at).entries()) {
          expect(delay, `seed ${seed}`).toBeGreaterThanOrEqual(50 * 2 ** i);
          expect(delay, `seed ${seed}`).toBeLessThanOrEqual(100 * 2 ** i);
        }
      }
    });

    test('uses the given Random', async () => {
      const [a, b, c] = await Promise.all(
        [1, 1, 2].map((seed) => tries([unavailable], { random: seededRandom(seed) })),
      );
      expect(a?.at).toEqual(b?.at);
      expect(a?.at).not.toEqual(c?.at);
    });

    test('is at least Retry-After and otherwise unaffected by it', async () => {
      const { at } = await tries([apiError('retry', 429, 7_000), apiError('retry', 429, 0)]);
      const [first = 0, second = 0] = delays(at);
      expect(first).toBe(7_000);
      expect(second).toBeLessThanOrEqual(200);
    });
  });

  test('does not wait once the signal has aborted, and logs no retry', async () => {
    stop.abort();
    expect(await tries([unavailable])).toMatchObject({ ended: unavailable, at: { length: 1 } });
    expect(clock.now()).toBe(0);
    expect(logged).toBe(0);
  });
});
