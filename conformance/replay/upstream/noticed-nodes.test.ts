import { beforeEach, expect, test } from 'vitest';
import { nodeObject, nodeStatus } from '../../differential/objects.ts';
import type { ScenarioObject } from '../scenario.ts';
import { NoticedNodes } from './noticed-nodes.ts';

const node = (name: string, zone: string, { ready = true, cpu = '4' } = {}) =>
  ({ ...nodeObject({ name, zone }), ...nodeStatus(ready, cpu) }) as unknown as ScenarioObject;
let nodes: NoticedNodes;

beforeEach(() => {
  nodes = new NoticedNodes();
  for (const name of ['a', 'b']) nodes.written(node(name, 'x'));
});

test('a change of CPU alone is delivered with the next relevant change, once per Node (E3)', () => {
  expect(nodes.written(node('a', 'x', { cpu: '8' }))).toEqual([]);
  expect(nodes.written(node('a', 'x', { cpu: '16' }))).toEqual([]);
  const unready = node('b', 'x', { ready: false });
  expect(nodes.written(unready)).toEqual([node('a', 'x', { cpu: '16' }), unready]);
  expect(nodes.takeHeld()).toEqual([]);
});

test('a Node with a relevant change is delivered once, a deleted one not at all', () => {
  nodes.written(node('a', 'x', { cpu: '8' }));
  const moved = node('a', 'y', { cpu: '8' });
  expect(nodes.written(moved)).toEqual([moved]);
  nodes.written(node('a', 'y', { cpu: '4' }));
  expect(nodes.deleted('a')).toEqual([]);
  expect(nodes.written(node('a', 'y'))).toHaveLength(1);
});

test('a new and a deleted Node deliver the held changes of others', () => {
  const held = node('a', 'x', { cpu: '8' });
  nodes.written(held);
  expect(nodes.written(node('c', 'x'))).toEqual([held, node('c', 'x')]);
  nodes.written(held);
  expect(nodes.deleted('b')).toEqual([held]);
});
