import { type ApiClient, ApiError, type ApiRequest } from '@sluice/kubernetes';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WriteGate } from './write-gate.ts';
import { WritePermissions } from './write-permissions.ts';

const rejection = new ApiError('endpoints is forbidden', { kind: 'terminal', status: 403, reason: 'Forbidden' });
let clock: VirtualClock;
let gate: WriteGate;
let permissions: WritePermissions;
let isGranted: boolean;
let answers: boolean;
let reviews: number;
let permitted: number;
let stop: AbortController;

beforeEach(() => {
  clock = new VirtualClock(0);
  gate = new WriteGate();
  [isGranted, answers, reviews, permitted] = [true, true, 0, 0];
  const request = async ({ path, body }: ApiRequest) => {
    if (!answers) throw new ApiError('gone', { kind: 'retry', status: 503, reason: '' });
    if (path.endsWith('selfsubjectrulesreviews')) {
      reviews++;
      return { status: 201, headers: {}, body: { status: { resourceRules: [], incomplete: false } } };
    }
    const { verb } = (body as { spec: { resourceAttributes: { verb: string } } }).spec.resourceAttributes;
    return { status: 201, headers: {}, body: { status: { allowed: isGranted || verb !== 'create' } } };
  };
  const connection = { server: '', request } as Partial<ApiClient> as ApiClient;
  const onPermitted = () => void permitted++;
  permissions = new WritePermissions({ cluster: 'prod', connection, gate, onPermitted, clock, logger: silentLogger });
  stop = new AbortController();
  void permissions.run(stop.signal);
});

afterEach(async () => {
  stop.abort();
  await advance(clock, 10_000);
});

test('sends nothing while nothing is rejected', async () => {
  permissions.failed(new ApiError('conflict', { kind: 'conflict', status: 409, reason: 'Conflict' }));
  await advance(clock, 60_000);
  expect(reviews).toBe(0);
});

test('pauses writes while the API server permits none, and says when it permits them again', async () => {
  isGranted = false;
  permissions.failed(rejection);
  await advance(clock, 0);
  expect(gate.pausedBecause).toBe(
    'the API server does not permit them: create endpoints, create endpointslices.discovery.k8s.io',
  );
  await advance(clock, 60_000);
  expect(permitted).toBe(0);
  isGranted = true;
  await advance(clock, 3_000);
  expect(gate.pausedBecause).toBeUndefined();
  expect(permitted).toBe(1);
});

test('a rejection of one namespace or by a webhook pauses nothing, and is not reviewed all the time', async () => {
  for (let i = 0; i < 100; i++) {
    permissions.failed(rejection);
    await advance(clock, 100);
  }
  expect(gate.pausedBecause).toBeUndefined();
  expect(permitted).toBe(0);
  expect(reviews).toBeLessThanOrEqual(4);
});

test('an API server that does not answer changes nothing', async () => {
  answers = false;
  permissions.failed(rejection);
  await advance(clock, 1_000);
  expect(gate.pausedBecause).toBeUndefined();
  [answers, isGranted] = [true, false];
  await advance(clock, 3_000);
  permissions.failed(rejection);
  await advance(clock, 3_000);
  expect(gate.pausedBecause).toBeDefined();
  [answers, isGranted] = [false, true];
  await advance(clock, 30_000);
  expect(gate.pausedBecause).toBeDefined();
  answers = true;
  await advance(clock, 3_000);
  expect([gate.pausedBecause, permitted]).toEqual([undefined, 1]);
});
