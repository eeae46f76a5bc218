import { isDeepStrictEqual } from 'node:util';
import {
  namespaceObject,
  nodeObject,
  nodeStatus,
  podObject,
  podStatus,
  reference,
  serviceObject,
} from '@sluice/conformance';
import { kubectl } from '@sluice/local';
import { until } from '@sluice/platform/testing';
import {
  type JsonObject,
  labelOf,
  listAt,
  objectAt,
  serviceNameLabel,
  textAt,
  triggerTimeAnnotation,
} from '@sluice/shadow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealFleet } from './harness/real-fleet.ts';

/**
 * The reconciler of a fleet on real NATS, Redis and kube-apiserver is killed again and again. Its successor knows the trigger
 * times and the hints that were written: upstream forgets both when it restarts, writes the creation time of the Service as
 * trigger time, announces hints that it announced before, and does not announce their end (C17, F9, F11).
 */
const namespace = 'shop';
const name = 'web';
/** Later than all that came before; trigger times have whole seconds. */
let second = Date.parse('2026-01-01T00:00:00Z');
let fleet: RealFleet;
let reconcilers = 0;

function nextSecond(): string {
  second += 1000;
  return new Date(second).toISOString().replace('.000', '');
}

beforeAll(async () => {
  fleet = await RealFleet.open();
  const { user } = fleet;
  await user.create('namespaces', namespaceObject(namespace));
  for (const zone of ['a', 'b']) {
    await user.create('nodes', nodeObject({ name: `node-${zone}`, zone }));
    await setCpu(zone, '4');
  }
  const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
  const spec = { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] };
  await user.create('services', serviceObject({ namespace, name, annotations, spec }));
  for (let n = 0; n < 12; n++) {
    const nodeName = n < 6 ? 'node-a' : 'node-b';
    await user.create('pods', podObject({ namespace, name: `web-${n}`, labels: { app: name }, nodeName }));
    await setReady(n, true, nextSecond());
  }
  for (const role of ['watcher', 'writer'] as const) fleet.start(role, role);
  startReconciler();
  await becomes(hintedZones, { a: 6, b: 6 });
});

afterAll(() => fleet?.stop());

const setReady = (n: number, ready: boolean, since: string) =>
  fleet.user.patch(
    reference('pods', { namespace, name: `web-${n}` }),
    podStatus({ phase: 'Running', ips: [`10.0.0.${n + 1}`], ready, since }),
    'status',
  );

const setCpu = (zone: string, cpu: string) =>
  fleet.user.patch({ resource: 'nodes', name: `node-${zone}` }, nodeStatus(true, cpu), 'status');

const startReconciler = () => void fleet.start(`reconciler-${++reconcilers}`, 'reconciler');

/** Kills the reconciler without warning and starts another one. */
async function replaceReconciler(): Promise<void> {
  const { child, exited } = fleet.process(`reconciler-${reconcilers}`);
  child.kill('SIGKILL');
  await exited;
  startReconciler();
}

async function slice(): Promise<JsonObject | undefined> {
  const slices = await fleet.user.list('endpointslices');
  return slices.find((one) => labelOf(one, serviceNameLabel) === name);
}

const triggerTime = async () => textAt(objectAt((await slice())?.metadata, 'annotations'), triggerTimeAnnotation);

/** Number of ready endpoints by the zone that they are for. */
async function hintedZones(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const endpoint of listAt((await slice()) ?? {}, 'endpoints')) {
    if (objectAt(endpoint, 'conditions').ready !== true) continue;
    const zones = listAt(objectAt(endpoint, 'hints'), 'forZones').map((zone) => textAt(zone, 'name'));
    for (const zone of zones.length === 0 ? ['none'] : zones) counts[zone] = (counts[zone] ?? 0) + 1;
  }
  return counts;
}

/** How often the Service has an Event about hints, by reason and message. */
async function hintEvents(): Promise<Readonly<Record<string, number>>> {
  const { items } = JSON.parse(await kubectl(fleet.plane.adminKubeconfig, ['get', 'events', '-A', '-o', 'json'])) as {
    readonly items: readonly { reason: string; message: string; count?: number }[];
  };
  const counts: Record<string, number> = {};
  for (const { reason, message, count = 1 } of items) {
    if (reason.startsWith('TopologyAwareHints')) counts[message] = (counts[message] ?? 0) + count;
  }
  return counts;
}

const becomes = (value: () => Promise<unknown>, expected: unknown) =>
  until(JSON.stringify(expected), async () => isDeepStrictEqual(await value(), expected));

const enabled = 'Topology Aware Hints has been enabled, addressType: IPv4';
const disabled = 'Topology Aware Hints has been disabled, addressType: IPv4';

test('trigger times: the successor writes the time of the Pod that changed, not that of the Service (C16, C17)', async () => {
  for (let round = 0; round < 6; round++) {
    const since = nextSecond();
    // Before the kill, after it, or while the plan may be in flight.
    if (round % 3 === 0) await replaceReconciler();
    await setReady(0, round % 2 === 1, since);
    if (round % 3 === 1) await replaceReconciler();
    if (round % 3 === 2) await Promise.all([replaceReconciler(), becomes(triggerTime, since)]);
    await becomes(triggerTime, since);
  }
});

test('hints: the successor announces them no second time, adapts them when a zone is overloaded, and announces their end (F9, F11)', async () => {
  await becomes(hintEvents, { [enabled]: 1 });
  await replaceReconciler();
  await setCpu('b', '20');
  await becomes(hintedZones, { a: 2, b: 10 });
  await replaceReconciler();
  await setReady(1, false, nextSecond());
  await becomes(async () => Object.values(await hintedZones()).reduce((sum, count) => sum + count, 0), 11);
  expect(await hintEvents()).toEqual({ [enabled]: 1 });
  await replaceReconciler();
  await fleet.user.patch(reference('services', { namespace, name }), {
    metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } },
  });
  await becomes(hintedZones, { none: 11 });
  await becomes(hintEvents, { [enabled]: 1, [disabled]: 1 });
});
