import { ApiError, type ApiRequest, type Connection, checkRequests } from '@sluice/kubernetes';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { watchCompetingController } from './watch-competing-controller.ts';
import { WriteGate } from './write-gate.ts';

test('a controller that starts later pauses writes within a minute; they resume when it is gone', async () => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  let running = false;
  let renewedAt = clock.now();
  const request = async ({ path }: ApiRequest) => {
    if (running) renewedAt = clock.now();
    if (!path.includes('/leases/')) return { status: 200, headers: {}, body: { items: [] } };
    const spec = { holderIdentity: 'node', renewTime: new Date(renewedAt).toISOString(), leaseDurationSeconds: 15 };
    if (renewedAt === start) throw new ApiError('not found', { kind: 'conflict', status: 404, reason: 'NotFound' });
    const metadata = { namespace: 'kube-system', name: 'kube-controller-manager' };
    return { status: 200, headers: {}, body: { metadata, spec } };
  };
  const start = renewedAt;
  const gate = new WriteGate();
  const stop = new AbortController();
  const connection = { request } as unknown as Connection;
  const watched = watchCompetingController(
    { cluster: 'a', connection, gate, clock, logger: silentLogger },
    stop.signal,
  );
  const send = () =>
    checkRequests([gate])(
      { verb: 'delete', resource: 'endpoints', namespace: 'a', name: 'b', preconditions: {}, signal: stop.signal },
      async () => undefined as never,
    );
  await advance(clock, 60_000);
  await send();
  running = true;
  await advance(clock, 60_000);
  expect(gate.pausedBecause).toContain('kube-controller-manager is active');
  await expect(send()).rejects.toMatchObject({ reason: 'WritesPaused', kind: 'retry' });
  running = false;
  await advance(clock, 120_000);
  expect(gate.pausedBecause).toBeUndefined();
  stop.abort();
  await advance(clock, 30_000);
  await watched;
});
