import type { Reference } from '../api-client.ts';
import { nodeObject, nodeStatus } from '../objects.ts';
import { type Step, step, type World, zones } from './world.ts';

const mostNodes = 8;

const of = (name: string): Reference => ({ resource: 'nodes', name });

export function createNode(world: World): Step | undefined {
  if (world.nodes.size >= mostNodes) return undefined;
  // Names come again, and Pods may be waiting for them.
  const name = world.chance(0.1) ? 'node-missing' : `node-${world.integer(1, mostNodes + 2)}`;
  if (world.nodes.has(name)) return undefined;
  const zone = world.chance(0.05) ? '' : world.oneOf('a', 'b', 'c');
  const labels: Readonly<Record<string, string>> = world.chance(0.1)
    ? { 'node-role.kubernetes.io/control-plane': '' }
    : {};
  world.nodes.set(name, { name, zone, ready: true });
  return step(
    `node ${name} in zone ${zone || '(none)'} created`,
    (client) => client.create('nodes', nodeObject({ name, zone, labels })),
    (client) => client.patch(of(name), nodeStatus(true, '4'), 'status'),
  );
}

export function deleteNode(world: World): Step | undefined {
  const node = world.pick(world.nodes.values());
  if (node === undefined || world.nodes.size < 3) return undefined;
  world.nodes.delete(node.name);
  return step(`node ${node.name} deleted`, (client) => client.delete(of(node.name)));
}

export function changeNode(world: World): Step | undefined {
  const node = world.pick(world.nodes.values());
  if (node === undefined) return undefined;
  const { name } = node;
  if (world.chance(0.3)) {
    const zone = world.oneOf(...zones);
    world.nodes.set(name, { ...node, zone });
    const labels = { 'topology.kubernetes.io/zone': zone === '' ? null : zone };
    return step(`node ${name} to zone ${zone || '(none)'}`, (client) =>
      client.patch(of(name), { metadata: { labels } }),
    );
  }
  const ready = world.chance(0.5) ? !node.ready : node.ready;
  const cpu = world.oneOf('2', '4', '8');
  world.nodes.set(name, { ...node, ready });
  return step(`node ${name} ${ready ? 'ready' : 'not ready'}, ${cpu} CPUs`, (client) =>
    client.patch(of(name), nodeStatus(ready, cpu), 'status'),
  );
}
