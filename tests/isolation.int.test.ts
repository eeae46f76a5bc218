import { TcpProxy } from '@sluice/local';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FleetRole, RealFleet } from './harness/real-fleet.ts';
import { createNamespace, createPod, createService, setReady } from './harness/real-services.ts';

/**
 * A process that is cut off from the bus or from the API server, and from nothing else, leaves its scopes to another (ADR 0081): real
 * processes, API server, NATS and Redis. Prints how long it took.
 */
const services = Array.from({ length: 12 }, (_, index) => `service-${String.fromCharCode(97 + index)}`);
const roles = ['watcher', 'reconciler', 'writer'] as const satisfies readonly FleetRole[];
let fleet: RealFleet;
let proxy: TcpProxy;

beforeEach(async () => {
  fleet = await RealFleet.open();
  proxy = await TcpProxy.listen(Number(new URL(fleet.nats.url).port));
  await createNamespace(fleet.user);
  for (const service of services) {
    await createService(fleet.user, service);
    await createPod(fleet.user, service, 0);
  }
});

afterEach(async () => {
  await proxy?.close();
  await fleet?.stop();
});

function count(process: string, message: string): number {
  return fleet.log.filter((line) => line.process === process && line.text.includes(`"${message}"`)).length;
}

/** Groups in which the process has acquired leases. */
function groupsOf(process: string): readonly string[] {
  return fleet.log.flatMap((line) => {
    if (line.process !== process || !line.text.includes('"leases acquired"')) return [];
    return [String((JSON.parse(line.text) as { group: string }).group)];
  });
}

async function setAllReady(ready: boolean): Promise<void> {
  for (const service of services) await setReady(fleet.user, service, 0, ready);
}

test.each(roles)(
  'a %s without a connection to the bus releases its leases; others serve all Services',
  async (role) => {
    // It acquires leases first, so it holds the only lease of a watcher.
    fleet.start('cut-off', role, { bus: `nats://127.0.0.1:${proxy.port}` });
    await expect.poll(() => count('cut-off', 'leases acquired')).toBeGreaterThan(0);
    for (const other of roles) fleet.start(`healthy-${other}`, other);
    await fleet.converged();
    if (role !== 'watcher') await expect.poll(() => count(`healthy-${role}`, 'leases acquired')).toBeGreaterThan(0);

    proxy.block('requests');
    proxy.block('responses');
    await setAllReady(false);
    await fleet.converged();
    expect(count('cut-off', 'no progress here; releasing leases to members that can work')).toBeGreaterThan(0);

    const acquired = count('cut-off', 'leases acquired');
    proxy.unblock('requests');
    proxy.unblock('responses');
    // A standby watcher takes nothing back.
    if (role !== 'watcher') await expect.poll(() => count('cut-off', 'leases acquired')).toBeGreaterThan(acquired);
    await setAllReady(true);
    await fleet.converged();
  },
);

test('a worker without a connection to the API server releases its leases; the other one serves all Services', async () => {
  const apiServer = await TcpProxy.listen(Number(new URL(fleet.plane.url).port));
  try {
    fleet.start('cut-off', 'worker', { apiServerPort: apiServer.port });
    await expect.poll(() => count('cut-off', 'caches synced')).toBe(1);
    fleet.start('healthy', 'worker');
    await expect.poll(() => groupsOf('healthy')).toEqual(expect.arrayContaining(['reconciler', 'writer']));
    await fleet.converged();

    const cutAt = performance.now();
    // biome-ignore lint/plugin: printed, not compared
    const sinceCut = () => `${((performance.now() - cutAt) / 1_000).toFixed(1)} s after the cut`;
    apiServer.block('requests');
    apiServer.block('responses');
    await setAllReady(false);
    await expect.poll(() => count('healthy', 'caches synced'), { interval: 20 }).toBe(1);
    console.log(`watched by the other worker ${sinceCut()}`);
    await fleet.converged();
    console.log(`all Services right ${sinceCut()}`);
    expect(count('cut-off', 'no progress here; releasing leases to members that can work')).toBe(2);

    const acquired = count('cut-off', 'leases acquired');
    apiServer.unblock('requests');
    apiServer.unblock('responses');
    await expect.poll(() => count('cut-off', 'leases acquired')).toBeGreaterThan(acquired);
    await setAllReady(true);
    await fleet.converged();
  } finally {
    await apiServer.close();
  }
});
