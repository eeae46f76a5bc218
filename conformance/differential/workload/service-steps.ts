import type { Json, JsonObject } from '@sluice/shadow';
import { portSpecs, reference, serviceObject } from '../objects.ts';
import { apps, mergeLabels, type Step, step, type Workload, type WorkloadService } from './workload.ts';

const mostServices = 14;
const names = Array.from({ length: mostServices + 4 }, (_, i) => `svc-${i + 1}`);

const of = (workload: Workload, name: string) => reference('services', { namespace: workload.namespace, name });

function ports(workload: Workload): Json {
  return workload.oneOf(
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

export function createService(workload: Workload): Step | undefined {
  if (workload.services.size >= mostServices) return undefined;
  const name = workload.pick(names.filter((n) => !workload.services.has(n) && !workload.justDeleted.has(n)));
  if (name === undefined) return undefined;
  const app = workload.oneOf(...apps);
  const selects = workload.chance(0.8);
  const headless = workload.chance(0.3);
  const dual = workload.chance(0.35);
  const withoutPorts = headless && workload.chance(0.2);
  const distribution = workload.oneOf(null, null, null, 'PreferClose', 'PreferSameZone', 'PreferSameNode');
  const spec: JsonObject = {
    ...(selects && { selector: { app } }),
    ...(headless && { clusterIP: 'None' }),
    ...(dual ? dualStack : workload.chance(0.15) ? { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' } : {}),
    ...(!withoutPorts && { ports: ports(workload) }),
    ...(workload.chance(0.15) && { publishNotReadyAddresses: true }),
    ...(distribution !== null && { trafficDistribution: distribution }),
  };
  workload.services.set(name, { name, app, selects, external: false, headless, dual });
  const object = serviceObject({
    namespace: workload.namespace,
    name,
    labels: workload.chance(0.5) ? { app, tier: 'front' } : {},
    annotations: workload.chance(0.2) ? { [hints]: 'Auto' } : {},
    spec,
  });
  const what = [selects ? `selects ${app}` : 'no selector', headless && 'headless', dual && 'dual-stack', distribution];
  return step(`service ${name} created: ${what.filter(Boolean).join(', ')}`, (client) =>
    client.create('services', object),
  );
}

/** Changes that neither add nor remove the selector. */
export function changeService(workload: Workload): Step | undefined {
  const service = workload.pick([...workload.services.values()].filter((s) => !s.external));
  if (service === undefined) return undefined;
  const patch = (what: string, change: JsonObject) =>
    step(`service ${service.name}: ${what}`, (client) => client.patch(of(workload, service.name), change));
  switch (workload.integer(1, 7)) {
    case 1:
      return patch('other ports', { spec: { ports: ports(workload) } });
    case 2:
      return patch(
        'labels',
        mergeLabels({ tier: workload.oneOf(null, 'front', 'back'), extra: workload.oneOf(null, 'x') }),
      );
    case 3: {
      if (!service.selects) return undefined;
      const app = workload.oneOf(...apps);
      workload.services.set(service.name, { ...service, app });
      return patch(`selects ${app}`, { spec: { selector: { app } } });
    }
    case 4:
      return patch('publishNotReadyAddresses', { spec: { publishNotReadyAddresses: workload.chance(0.5) } });
    case 5: {
      const trafficDistribution = workload.oneOf(null, 'PreferClose', 'PreferSameZone', 'PreferSameNode');
      return patch(`traffic distribution ${trafficDistribution}`, { spec: { trafficDistribution } });
    }
    case 6: {
      const mode = workload.oneOf(null, 'Auto', 'Disabled');
      return patch(`topology mode ${mode}`, { metadata: { annotations: { [hints]: mode } } });
    }
    default:
      return changeFamilies(workload, service);
  }
}

function changeFamilies(workload: Workload, service: WorkloadService): Step {
  const dual = !service.dual;
  workload.services.set(service.name, { ...service, dual });
  return step(`service ${service.name} ${dual ? 'dual-stack' : 'single-stack'}`, async (client) => {
    const { spec } = await client.get(of(workload, service.name));
    const first = (key: string): Json => {
      const list = typeof spec === 'object' && spec !== null && !Array.isArray(spec) ? (spec as JsonObject)[key] : null;
      return Array.isArray(list) ? list.slice(0, 1) : null;
    };
    const single = { ipFamilyPolicy: 'SingleStack', ipFamilies: first('ipFamilies'), clusterIPs: first('clusterIPs') };
    await client.patch(of(workload, service.name), { spec: dual ? dualStack : single });
  });
}

/** Its slices remain, because no garbage collector runs. */
export function deleteService(workload: Workload, service: WorkloadService): Step {
  workload.services.delete(service.name);
  workload.customEndpoints.delete(service.name);
  workload.justDeleted.add(service.name);
  return step(`service ${service.name} deleted`, (client) => client.delete(of(workload, service.name)));
}

export function toggleSelector(workload: Workload, service: WorkloadService): Step {
  const selects = !service.selects;
  workload.services.set(service.name, { ...service, selects });
  noteWhoKeepsEndpoints(workload, service.name);
  return step(`service ${service.name} ${selects ? `selects ${service.app}` : 'loses its selector'}`, (client) =>
    client.patch(of(workload, service.name), { spec: { selector: selects ? { app: service.app } : null } }),
  );
}

export function toggleExternal(workload: Workload, service: WorkloadService): Step {
  const external = !service.external;
  workload.services.set(service.name, { ...service, external, headless: false, dual: false });
  noteWhoKeepsEndpoints(workload, service.name);
  const toExternal = { type: 'ExternalName', externalName: 'example.org', clusterIP: null, clusterIPs: null };
  const change = external
    ? { ...toExternal, ipFamilies: null, ipFamilyPolicy: null }
    : { type: 'ClusterIP', externalName: null };
  return step(`service ${service.name} ${external ? 'becomes' : 'is no longer'} an ExternalName`, (client) =>
    client.patch(of(workload, service.name), { spec: change }),
  );
}

function noteWhoKeepsEndpoints(workload: Workload, name: string): void {
  if (workload.isCustom(name)) workload.customEndpoints.add(name);
  else workload.customEndpoints.delete(name);
}
