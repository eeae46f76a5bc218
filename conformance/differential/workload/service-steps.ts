import type { Json, JsonObject } from '@sluice/shadow';
import { portSpecs, reference, serviceObject } from '../objects.ts';
import { apps, mergeLabels, type Step, step, type World, type WorldService } from './world.ts';

const mostServices = 14;
const names = Array.from({ length: mostServices + 4 }, (_, i) => `svc-${i + 1}`);

const of = (world: World, name: string) => reference('services', { namespace: world.namespace, name });

function ports(world: World): Json {
  return world.oneOf(
    portSpecs({ name: 'http', port: 80, targetPort: 8080 }),
    portSpecs({ name: 'http', port: 80, targetPort: 'http' }),
    portSpecs({ port: 80 }),
    portSpecs({ name: 'http', port: 80, targetPort: 'http' }, { name: 'metrics', port: 9090, targetPort: 'metrics' }),
    portSpecs({ name: 'tcp', port: 53, targetPort: 53 }, { name: 'udp', port: 53, targetPort: 53, protocol: 'UDP' }),
    portSpecs({ name: 'http', port: 80, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' }),
  );
}

const dualStack = { ipFamilyPolicy: 'RequireDualStack' };
const hints = 'service.kubernetes.io/topology-mode';

export function createService(world: World): Step | undefined {
  if (world.services.size >= mostServices) return undefined;
  const name = world.pick(names.filter((n) => !world.services.has(n) && !world.justDeleted.has(n)));
  if (name === undefined) return undefined;
  const app = world.oneOf(...apps);
  const selects = world.chance(0.8);
  const headless = world.chance(0.3);
  const dual = world.chance(0.35);
  const withoutPorts = headless && world.chance(0.2);
  const distribution = world.oneOf(null, null, null, 'PreferClose', 'PreferSameZone', 'PreferSameNode');
  const spec: JsonObject = {
    ...(selects && { selector: { app } }),
    ...(headless && { clusterIP: 'None' }),
    ...(dual ? dualStack : world.chance(0.15) ? { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' } : {}),
    ...(!withoutPorts && { ports: ports(world) }),
    ...(world.chance(0.15) && { publishNotReadyAddresses: true }),
    ...(distribution !== null && { trafficDistribution: distribution }),
  };
  world.services.set(name, { name, app, selects, external: false, headless, dual });
  const object = serviceObject({
    namespace: world.namespace,
    name,
    labels: world.chance(0.5) ? { app, tier: 'front' } : {},
    annotations: world.chance(0.2) ? { [hints]: 'Auto' } : {},
    spec,
  });
  const what = [selects ? `selects ${app}` : 'no selector', headless && 'headless', dual && 'dual-stack', distribution];
  return step(`service ${name} created: ${what.filter(Boolean).join(', ')}`, (client) =>
    client.create('services', object),
  );
}

/** Changes that leave a Service one with, or one without, a selector. */
export function changeService(world: World): Step | undefined {
  const service = world.pick([...world.services.values()].filter((s) => !s.external));
  if (service === undefined) return undefined;
  const patch = (what: string, change: JsonObject) =>
    step(`service ${service.name}: ${what}`, (client) => client.patch(of(world, service.name), change));
  switch (world.integer(1, 7)) {
    case 1:
      return patch('other ports', { spec: { ports: ports(world) } });
    case 2:
      return patch('labels', mergeLabels({ tier: world.oneOf(null, 'front', 'back'), extra: world.oneOf(null, 'x') }));
    case 3: {
      if (!service.selects) return undefined;
      const app = world.oneOf(...apps);
      world.services.set(service.name, { ...service, app });
      return patch(`selects ${app}`, { spec: { selector: { app } } });
    }
    case 4:
      return patch('publishNotReadyAddresses', { spec: { publishNotReadyAddresses: world.chance(0.5) } });
    case 5: {
      const trafficDistribution = world.oneOf(null, 'PreferClose', 'PreferSameZone', 'PreferSameNode');
      return patch(`traffic distribution ${trafficDistribution}`, { spec: { trafficDistribution } });
    }
    case 6: {
      const mode = world.oneOf(null, 'Auto', 'Disabled');
      return patch(`topology mode ${mode}`, { metadata: { annotations: { [hints]: mode } } });
    }
    default:
      return changeFamilies(world, service);
  }
}

function changeFamilies(world: World, service: WorldService): Step {
  const dual = !service.dual;
  world.services.set(service.name, { ...service, dual });
  return step(`service ${service.name} ${dual ? 'dual-stack' : 'single-stack'}`, async (client) => {
    const { spec } = await client.get(of(world, service.name));
    const first = (key: string): Json => {
      const list = typeof spec === 'object' && spec !== null && !Array.isArray(spec) ? (spec as JsonObject)[key] : null;
      return Array.isArray(list) ? list.slice(0, 1) : null;
    };
    const single = { ipFamilyPolicy: 'SingleStack', ipFamilies: first('ipFamilies'), clusterIPs: first('clusterIPs') };
    await client.patch(of(world, service.name), { spec: dual ? dualStack : single });
  });
}

/** From here on its slices stand as they are: nobody collects garbage. */
export function deleteService(world: World, service: WorldService): Step {
  world.services.delete(service.name);
  world.customEndpoints.delete(service.name);
  world.justDeleted.add(service.name);
  return step(`service ${service.name} deleted`, (client) => client.delete(of(world, service.name)));
}

export function toggleSelector(world: World, service: WorldService): Step {
  const selects = !service.selects;
  world.services.set(service.name, { ...service, selects });
  noteWhoKeepsEndpoints(world, service.name);
  return step(`service ${service.name} ${selects ? `selects ${service.app}` : 'loses its selector'}`, (client) =>
    client.patch(of(world, service.name), { spec: { selector: selects ? { app: service.app } : null } }),
  );
}

export function toggleExternal(world: World, service: WorldService): Step {
  const external = !service.external;
  world.services.set(service.name, { ...service, external, headless: false, dual: false });
  noteWhoKeepsEndpoints(world, service.name);
  const toExternal = { type: 'ExternalName', externalName: 'example.org', clusterIP: null, clusterIPs: null };
  const change = external
    ? { ...toExternal, ipFamilies: null, ipFamilyPolicy: null }
    : { type: 'ClusterIP', externalName: null };
  return step(`service ${service.name} ${external ? 'becomes' : 'is no longer'} an ExternalName`, (client) =>
    client.patch(of(world, service.name), { spec: change }),
  );
}

function noteWhoKeepsEndpoints(world: World, name: string): void {
  if (world.isCustom(name)) world.customEndpoints.add(name);
  else world.customEndpoints.delete(name);
}
