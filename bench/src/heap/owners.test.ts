import { expect, test } from 'vitest';
import { parseHeapSnapshot } from './heap-snapshot.ts';
import { summarizeHeap } from './owners.ts';

/** An Indexer with a Map of two Pods in `#pods`, one of which a History refers to as well, through a Map and an array. */
const snapshot = {
  snapshot: {
    meta: {
      node_fields: ['type', 'name', 'id', 'self_size', 'edge_count', 'detachedness'],
      node_types: [['hidden', 'object', 'string', 'code']],
      edge_fields: ['type', 'name_or_index', 'to_node'],
      edge_types: [['context', 'element', 'property', 'internal', 'weak']],
    },
    node_count: 8,
    edge_count: 7,
  },
  nodes: [
    [1, 1, 1, 40, 1, 0],
    [1, 2, 3, 60, 2, 0],
    [1, 3, 5, 100, 0, 0],
    [1, 3, 7, 100, 0, 0],
    [1, 4, 9, 10, 2, 0],
    [1, 2, 11, 20, 1, 0],
    [1, 5, 13, 30, 1, 0],
    [3, 6, 15, 7, 0, 0],
  ].flat(),
  edges: [
    [2, 7, 1 * 6],
    [1, 0, 2 * 6],
    [1, 1, 3 * 6],
    [2, 7, 5 * 6],
    [4, 0, 2 * 6],
    [1, 0, 6 * 6],
    [1, 0, 3 * 6],
  ].flat(),
  locations: [],
  strings: ['', 'Indexer', 'Map', 'Object', 'History', 'Array', 'f', '#pods'],
};

test('an object belongs to the nearest instance of a class that refers to it', () => {
  const parsed = parseHeapSnapshot(Buffer.from(JSON.stringify(snapshot)));
  const summary = summarizeHeap(parsed, (name) => (name === 'Indexer' ? 'services/watcher' : undefined));
  expect(summary.bytes).toBe(367);
  expect(summary.owners).toEqual([
    { name: 'services/watcher Indexer', bytes: 300, objects: 4 },
    { name: 'History', bytes: 60, objects: 3 },
    { name: '(code)', bytes: 7, objects: 1 },
  ]);
  expect(summary.fields).toContainEqual({ name: 'services/watcher Indexer . #pods', bytes: 260, objects: 3 });
  expect(summary.contents).toContainEqual({ name: 'services/watcher Indexer › Object', bytes: 200, objects: 2 });
});
