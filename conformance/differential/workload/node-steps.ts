import type { Reference } from '../api-client.ts';
import { nodeObject, nodeStatus } from '../objects.ts';
import { type Step, step, type Workload, zones } from './workload.ts';

const mostNodes = 8;

const of = (name: string): Reference => ({ resource: 'nodes', name });

export function createNode(workload: Workload): Step | undefined {
  if (workload.nodes.size >= mostNodes) return undefined;
  // Names recur, and Pods may refer to a Node that does not exist yet.
  const name = workload.chance(0.1) ? 'node-missing' : `node-${workload.integer(1, mostNodes + 2)}`;
  if (workload.nodes.has(name)) return undefined;
  const zone = workload.chance(0.05) ? '' : workload.oneOf('a', 'b', 'c');
  const labels: Readonly<Record<string, string>> = workload.chance(0.1)
    ? { 'node-role.kubernetes.io/control-plane': '' }
    : {};
  workload.nodes.set(name, { name, zone, ready: true });
  return step(
    `node ${name} in zone ${zone || '(none)'} created`,
    (client) => client.create('nodes', nodeObject({ name, zone, labels })),
    (client) => client.patch(of(name), nodeStatus(true, '4'), 'status'),
  );
}

export function deleteNode(workload: Workload): Step | undefined {
  const node = workload.pick(workload.nodes.values());
  if (node === undefined || workload.nodes.size < 3) return undefined;
  workload.nodes.delete(node.name);
  return step(`node ${node.name} deleted`, (client) => client.delete(of(node.name)));
}

export function changeNode(workload: Workload): Step | undefined {
  const node = workload.pick(workload.nodes.values());
  if (node === undefined) return undefined;
  const { name } = node;
  if (workload.chance(0.3)) {
    const zone = workload.oneOf(...zones);
    workload.nodes.set(name, { ...node, zone });
    const labels = { 'topology.kubernetes.io/zone': zone === '' ? null : zone };
    return step(`node ${name} to zone ${zone || '(none)'}`, (client) =>
      client.patch(of(name), { metadata: { labels } }),
    );
  }
  const ready = workload.chance(0.5) ? !node.ready : node.ready;
  const cpu = workload.oneOf('2', '4', '8');
  workload.nodes.set(name, { ...node, ready });
  return step(`node ${name} ${ready ? 'ready' : 'not ready'}, ${cpu} CPUs`, (client) =>
    client.patch(of(name), nodeStatus(ready, cpu), 'status'),
  );
}
