import { TcpProxy } from '@sluice/local';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FleetRole, RealFleet } from './harness/real-fleet.ts';
import { createNamespace, createPod, createService, setReady } from './harness/real-services.ts';

/**
 * A process that is cut off from the bus, and from nothing else, leaves its scopes to another (ADR 0081): real processes, API
 * server, NATS and Redis.
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
