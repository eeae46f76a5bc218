import type { JsonObject } from '@sluice/shadow';
import { endpointsObject, reference, sliceObject } from '../objects.ts';
import { type Step, step, type Workload, type WorkloadService } from './workload.ts';

const of = (workload: Workload, name: string) => reference('endpoints', { namespace: workload.namespace, name });

function subset(workload: Workload): JsonObject {
  const address = (): JsonObject => ({
    ip: workload.chance(0.8) ? `192.0.2.${workload.integer(1, 60)}` : `2001:db8::${workload.integer(1, 60)}`,
    ...(workload.chance(0.2) && { hostname: `host-${workload.integer(1, 5)}` }),
    ...(workload.chance(0.2) && { nodeName: 'node-1' }),
  });
  const addresses = (most: number) => {
    const byIp = new Map(Array.from({ length: workload.integer(0, most) }, address).map((a) => [a.ip, a]));
    return [...byIp.values()];
  };
  const ready = addresses(4);
  const taken = new Set(ready.map(({ ip }) => ip));
  return {
    addresses: ready,
    notReadyAddresses: [
      ...addresses(2).filter(({ ip }) => !taken.has(ip)),
      { ip: `198.51.100.${workload.integer(1, 200)}` },
    ],
    ports: workload.oneOf(
      [{ name: 'http', port: 8080 }],
      [{ name: 'http', port: 8081 }],
      [{ port: 80 }],
      [
        { name: 'http', port: 8080 },
        { name: 'metrics', port: 9090, appProtocol: 'http' },
      ],
    ),
  };
}

const subsets = (workload: Workload) => Array.from({ length: workload.integer(0, 3) }, () => subset(workload));

const marks = (workload: Workload): JsonObject => ({
  labels: {
    'endpointslice.kubernetes.io/skip-mirror': workload.oneOf(null, null, 'true'),
    kept: workload.oneOf(null, 'x'),
  },
  annotations: {
    'control-plane.alpha.kubernetes.io/leader': workload.oneOf(null, null, null, '{}'),
    note: workload.oneOf(null, 'a', 'b'),
  },
});

/** For a Service without a selector, before its Service exists, or without any Service. */
export function createEndpoints(workload: Workload): Step | undefined {
  const candidates = [...workload.services.keys(), 'svc-1', 'svc-2', 'of-no-service'].filter(
    (name) => workload.isCustom(name) && !workload.customEndpoints.has(name) && !workload.justDeleted.has(name),
  );
  const name = workload.pick(candidates);
  if (name === undefined) return undefined;
  workload.customEndpoints.add(name);
  const object = endpointsObject({ namespace: workload.namespace, name, subsets: subsets(workload) });
  return step(`endpoints ${name} created`, (client) => client.create('endpoints', object));
}

export function changeEndpoints(workload: Workload): Step | undefined {
  const name = workload.pick(workload.customEndpoints);
  if (name === undefined) return undefined;
  const change = workload.chance(0.6) ? { subsets: subsets(workload) } : { metadata: marks(workload) };
  return step(`endpoints ${name} changed`, (client) => client.patch(of(workload, name), change));
}

export function deleteEndpoints(workload: Workload): Step | undefined {
  const name = workload.pick(workload.customEndpoints);
  if (name === undefined) return undefined;
  workload.customEndpoints.delete(name);
  workload.justDeleted.add(name);
  return step(`endpoints ${name} deleted`, (client) => client.delete(of(workload, name)));
}

/** A user edits or deletes Endpoints that a controller manages. */
export function editManagedEndpoints(workload: Workload, { name }: WorkloadService): Step | undefined {
  if (workload.isCustom(name)) return undefined;
  if (workload.chance(0.3)) return step(`endpoints ${name} deleted manually`, (c) => c.delete(of(workload, name)));
  const change = workload.oneOf<JsonObject>(
    { subsets: subsets(workload) },
    { metadata: { labels: { 'endpoints.kubernetes.io/managed-by': 'me', more: 'x' } } },
    { metadata: { annotations: { note: workload.oneOf(null, 'x') } } },
  );
  return step(`endpoints ${name} edited manually`, (client) => client.patch(of(workload, name), change));
}

/** Slices of other managers, which no controller may change. */
export function userSlice(workload: Workload): Step | undefined {
  const { namespace } = workload;
  const old = workload.chance(0.4) ? workload.pick(workload.userSlices) : undefined;
  if (old !== undefined) {
    workload.userSlices.delete(old);
    return step(`slice ${old} of a user deleted`, (client) =>
      client.delete(reference('endpointslices', { namespace, name: old })),
    );
  }
  const service = workload.pick(workload.services.keys());
  if (service === undefined || workload.userSlices.size >= 5) return undefined;
  const name = `user-${workload.next()}`;
  workload.userSlices.add(name);
  const object = sliceObject({
    namespace,
    name,
    labels: {
      'kubernetes.io/service-name': service,
      ...(workload.chance(0.5) && { 'endpointslice.kubernetes.io/managed-by': 'me.example.org' }),
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [`203.0.113.${workload.integer(1, 200)}`] }],
    ports: [{ name: 'http', port: 8080 }],
  });
  return step(`slice ${name} of a user for ${service}`, (client) => client.create('endpointslices', object));
}
