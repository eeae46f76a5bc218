import { podObject, podStatus, reference } from '../objects.ts';
import { apps, type Step, step, type Workload, type WorkloadPod } from './workload.ts';

const mostPods = 60;

const of = (workload: Workload, name: string) => reference('pods', { namespace: workload.namespace, name });

export function createPod(workload: Workload): Step | undefined {
  if (workload.pods.size >= mostPods) return undefined;
  // Names recur now and then, as in a StatefulSet.
  const name = workload.chance(0.4) ? `pod-${workload.integer(1, 40)}` : `pod-${100 + workload.next()}`;
  if (workload.pods.has(name)) return undefined;
  const app = workload.oneOf(...apps);
  const nodeName = workload.chance(0.05) ? 'node-missing' : (workload.pick(workload.nodes.keys()) ?? 'node-missing');
  const hostname = workload.chance(0.2)
    ? { hostname: name, subdomain: workload.pick(workload.services.keys()) ?? 'none' }
    : {};
  const pod = podObject({
    namespace: workload.namespace,
    name,
    labels: { app },
    nodeName,
    ports: workload.oneOf({ http: 8080 }, { http: 8080 }, { http: 8081, metrics: 9090 }, {}),
    ...(workload.chance(0.1) && { sidecarPorts: { metrics: 9191 } }),
    ...hostname,
  });
  const ips = workload.addresses();
  const ready = ips.length > 0 && workload.chance(0.7);
  workload.pods.set(name, { name, app, nodeName, ips, ready, terminating: false, finished: false });
  return step(
    `pod ${name} of ${app} on ${nodeName} created, ${ips.join(' ') || 'no address'}, ${ready ? 'ready' : 'not ready'}`,
    (client) => client.create('pods', pod),
    (client) =>
      client.patch(of(workload, name), podStatus({ phase: 'Running', ips, ready, since: workload.tick() }), 'status'),
  );
}

/** Several at once, so that slices get more than a few endpoints. */
export function createManyPods(workload: Workload): Step | undefined {
  const steps = Array.from({ length: workload.integer(4, 10) }, () => createPod(workload)).filter(
    (s) => s !== undefined,
  );
  if (steps.length === 0) return undefined;
  return step(`${steps.length} pods created`, ...steps.flatMap(({ requests }) => requests));
}

export function flipReadiness(workload: Workload): Step | undefined {
  const pod = workload.pick([...workload.pods.values()].filter((p) => !p.finished && p.ips.length > 0));
  if (pod === undefined) return undefined;
  return report(workload, { ...pod, ready: !pod.ready }, `pod ${pod.name} ${pod.ready ? 'not ready' : 'ready'}`);
}

export function changeAddresses(workload: Workload): Step | undefined {
  const pod = workload.pick([...workload.pods.values()].filter((p) => !p.finished));
  if (pod === undefined) return undefined;
  const ips = workload.addresses();
  return report(
    workload,
    { ...pod, ips, ready: pod.ready && ips.length > 0 },
    `pod ${pod.name} moved to ${ips.join(' ')}`,
  );
}

export function finishPod(workload: Workload): Step | undefined {
  const pod = workload.pick([...workload.pods.values()].filter((p) => !p.finished));
  if (pod === undefined) return undefined;
  return report(workload, { ...pod, ready: false, finished: true }, `pod ${pod.name} finished`);
}

export function movePod(workload: Workload): Step | undefined {
  const pod = workload.pick(workload.pods.values());
  if (pod === undefined) return undefined;
  const app = workload.oneOf(...apps);
  workload.pods.set(pod.name, { ...pod, app });
  return step(`pod ${pod.name} from ${pod.app} to ${app}`, (client) =>
    client.patch(of(workload, pod.name), { metadata: { labels: { app } } }),
  );
}

export function terminatePod(workload: Workload): Step | undefined {
  const pod = workload.pick([...workload.pods.values()].filter((p) => !p.terminating));
  if (pod === undefined) return undefined;
  workload.pods.set(pod.name, { ...pod, terminating: true });
  return step(`pod ${pod.name} terminating`, (client) => client.delete(of(workload, pod.name), 3_600));
}

export function deletePod(workload: Workload): Step | undefined {
  const pod = workload.pick(workload.pods.values());
  if (pod === undefined) return undefined;
  workload.pods.delete(pod.name);
  return step(`pod ${pod.name} deleted`, (client) => client.delete(of(workload, pod.name)));
}

function report(workload: Workload, pod: WorkloadPod, what: string): Step {
  workload.pods.set(pod.name, pod);
  const { ips, ready, finished } = pod;
  const status = podStatus({ phase: finished ? 'Succeeded' : 'Running', ips, ready, since: workload.tick() });
  return step(what, (client) => client.patch(of(workload, pod.name), status, 'status'));
}
