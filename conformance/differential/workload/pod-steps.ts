import { podObject, podStatus, reference } from '../objects.ts';
import { apps, type Step, step, type World, type WorldPod } from './world.ts';

const mostPods = 60;

const of = (world: World, name: string) => reference('pods', { namespace: world.namespace, name });

export function createPod(world: World): Step | undefined {
  if (world.pods.size >= mostPods) return undefined;
  // Now and then under a name that was there before, as a StatefulSet's Pods come again.
  const name = world.chance(0.4) ? `pod-${world.integer(1, 40)}` : `pod-${100 + world.next()}`;
  if (world.pods.has(name)) return undefined;
  const app = world.oneOf(...apps);
  const nodeName = world.chance(0.05) ? 'node-missing' : (world.pick(world.nodes.keys()) ?? 'node-missing');
  const hostname = world.chance(0.2) ? { hostname: name, subdomain: world.pick(world.services.keys()) ?? 'none' } : {};
  const pod = podObject({
    namespace: world.namespace,
    name,
    labels: { app },
    nodeName,
    ports: world.oneOf({ http: 8080 }, { http: 8080 }, { http: 8081, metrics: 9090 }, {}),
    ...(world.chance(0.1) && { sidecarPorts: { metrics: 9191 } }),
    ...hostname,
  });
  const ips = world.addresses();
  const ready = ips.length > 0 && world.chance(0.7);
  world.pods.set(name, { name, app, nodeName, ips, ready, terminating: false, finished: false });
  return step(
    `pod ${name} of ${app} on ${nodeName} created, ${ips.join(' ') || 'no address'}, ${ready ? 'ready' : 'not ready'}`,
    (client) => client.create('pods', pod),
    (client) =>
      client.patch(of(world, name), podStatus({ phase: 'Running', ips, ready, since: world.tick() }), 'status'),
  );
}

/** A few at once, so that slices get more than a handful of endpoints. */
export function createManyPods(world: World): Step | undefined {
  const steps = Array.from({ length: world.integer(4, 10) }, () => createPod(world)).filter((s) => s !== undefined);
  if (steps.length === 0) return undefined;
  return step(`${steps.length} pods created`, ...steps.flatMap(({ requests }) => requests));
}

export function flipReadiness(world: World): Step | undefined {
  const pod = world.pick([...world.pods.values()].filter((p) => !p.finished && p.ips.length > 0));
  if (pod === undefined) return undefined;
  return report(world, { ...pod, ready: !pod.ready }, `pod ${pod.name} ${pod.ready ? 'not ready' : 'ready'}`);
}

export function changeAddresses(world: World): Step | undefined {
  const pod = world.pick([...world.pods.values()].filter((p) => !p.finished));
  if (pod === undefined) return undefined;
  const ips = world.addresses();
  return report(
    world,
    { ...pod, ips, ready: pod.ready && ips.length > 0 },
    `pod ${pod.name} moved to ${ips.join(' ')}`,
  );
}

export function finishPod(world: World): Step | undefined {
  const pod = world.pick([...world.pods.values()].filter((p) => !p.finished));
  if (pod === undefined) return undefined;
  return report(world, { ...pod, ready: false, finished: true }, `pod ${pod.name} finished`);
}

export function movePod(world: World): Step | undefined {
  const pod = world.pick(world.pods.values());
  if (pod === undefined) return undefined;
  const app = world.oneOf(...apps);
  world.pods.set(pod.name, { ...pod, app });
  return step(`pod ${pod.name} from ${pod.app} to ${app}`, (client) =>
    client.patch(of(world, pod.name), { metadata: { labels: { app } } }),
  );
}

export function terminatePod(world: World): Step | undefined {
  const pod = world.pick([...world.pods.values()].filter((p) => !p.terminating));
  if (pod === undefined) return undefined;
  world.pods.set(pod.name, { ...pod, terminating: true });
  return step(`pod ${pod.name} terminating`, (client) => client.delete(of(world, pod.name), 3_600));
}

export function deletePod(world: World): Step | undefined {
  const pod = world.pick(world.pods.values());
  if (pod === undefined) return undefined;
  world.pods.delete(pod.name);
  return step(`pod ${pod.name} deleted`, (client) => client.delete(of(world, pod.name)));
}

function report(world: World, pod: WorldPod, what: string): Step {
  world.pods.set(pod.name, pod);
  const { ips, ready, finished } = pod;
  const status = podStatus({ phase: finished ? 'Succeeded' : 'Running', ips, ready, since: world.tick() });
  return step(what, (client) => client.patch(of(world, pod.name), status, 'status'));
}
