import type { JsonObject } from '@sluice/shadow';
import { endpointsObject, reference, sliceObject } from '../objects.ts';
import { type Step, step, type World, type WorldService } from './world.ts';

const of = (world: World, name: string) => reference('endpoints', { namespace: world.namespace, name });

function subset(world: World): JsonObject {
  const address = (): JsonObject => ({
    ip: world.chance(0.8) ? `192.0.2.${world.integer(1, 60)}` : `2001:db8::${world.integer(1, 60)}`,
    ...(world.chance(0.2) && { hostname: `host-${world.integer(1, 5)}` }),
    ...(world.chance(0.2) && { nodeName: 'node-1' }),
  });
  const addresses = (most: number) => {
    const byIp = new Map(Array.from({ length: world.integer(0, most) }, address).map((a) => [a.ip, a]));
    return [...byIp.values()];
  };
  const ready = addresses(4);
  const taken = new Set(ready.map(({ ip }) => ip));
  return {
    addresses: ready,
    notReadyAddresses: [
      ...addresses(2).filter(({ ip }) => !taken.has(ip)),
      { ip: `198.51.100.${world.integer(1, 200)}` },
    ],
    ports: world.oneOf(
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

const subsets = (world: World) => Array.from({ length: world.integer(0, 3) }, () => subset(world));

const marks = (world: World): JsonObject => ({
  labels: { 'endpointslice.kubernetes.io/skip-mirror': world.oneOf(null, null, 'true'), kept: world.oneOf(null, 'x') },
  annotations: {
    'control-plane.alpha.kubernetes.io/leader': world.oneOf(null, null, null, '{}'),
    note: world.oneOf(null, 'a', 'b'),
  },
});

/** Of a Service without a selector, or ahead of its Service, or of none ever. */
export function createEndpoints(world: World): Step | undefined {
  const candidates = [...world.services.keys(), 'svc-1', 'svc-2', 'of-no-service'].filter(
    (name) => world.isCustom(name) && !world.customEndpoints.has(name) && !world.justDeleted.has(name),
  );
  const name = world.pick(candidates);
  if (name === undefined) return undefined;
  world.customEndpoints.add(name);
  const object = endpointsObject({ namespace: world.namespace, name, subsets: subsets(world) });
  return step(`endpoints ${name} created`, (client) => client.create('endpoints', object));
}

export function changeEndpoints(world: World): Step | undefined {
  const name = world.pick(world.customEndpoints);
  if (name === undefined) return undefined;
  const change = world.chance(0.6) ? { subsets: subsets(world) } : { metadata: marks(world) };
  return step(`endpoints ${name} changed`, (client) => client.patch(of(world, name), change));
}

export function deleteEndpoints(world: World): Step | undefined {
  const name = world.pick(world.customEndpoints);
  if (name === undefined) return undefined;
  world.customEndpoints.delete(name);
  world.justDeleted.add(name);
  return step(`endpoints ${name} deleted`, (client) => client.delete(of(world, name)));
}

/** What a controller keeps, a user edits or deletes. */
export function meddleWithEndpoints(world: World, { name }: WorldService): Step | undefined {
  if (world.isCustom(name)) return undefined;
  if (world.chance(0.3)) return step(`endpoints ${name} deleted by hand`, (c) => c.delete(of(world, name)));
  const change = world.oneOf<JsonObject>(
    { subsets: subsets(world) },
    { metadata: { labels: { 'endpoints.kubernetes.io/managed-by': 'me', more: 'x' } } },
    { metadata: { annotations: { note: world.oneOf(null, 'x') } } },
  );
  return step(`endpoints ${name} edited by hand`, (client) => client.patch(of(world, name), change));
}

/** Slices of other managers, which nobody may touch. */
export function userSlice(world: World): Step | undefined {
  const { namespace } = world;
  const old = world.chance(0.4) ? world.pick(world.userSlices) : undefined;
  if (old !== undefined) {
    world.userSlices.delete(old);
    return step(`slice ${old} of a user deleted`, (client) =>
      client.delete(reference('endpointslices', { namespace, name: old })),
    );
  }
  const service = world.pick(world.services.keys());
  if (service === undefined || world.userSlices.size >= 5) return undefined;
  const name = `user-${world.next()}`;
  world.userSlices.add(name);
  const object = sliceObject({
    namespace,
    name,
    labels: {
      'kubernetes.io/service-name': service,
      ...(world.chance(0.5) && { 'endpointslice.kubernetes.io/managed-by': 'me.example.org' }),
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [`203.0.113.${world.integer(1, 200)}`] }],
    ports: [{ name: 'http', port: 8080 }],
  });
  return step(`slice ${name} of a user for ${service}`, (client) => client.create('endpointslices', object));
}
