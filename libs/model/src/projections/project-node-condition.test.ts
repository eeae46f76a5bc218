import { expect, test } from 'vitest';
import { projectNodeCondition } from './project-node-condition.ts';

const node = (ready: object | undefined, spec: object = {}) => ({
  spec,
  status: { conditions: [{ type: 'MemoryPressure', status: 'True' }, ...(ready === undefined ? [] : [ready])] },
});

test.each<[string, unknown]>([
  ['', node({ type: 'Ready', status: 'True', reason: 'KubeletReady' })],
  ['', node(undefined)],
  ['not ready (NodeStatusUnknown)', node({ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' })],
  ['not ready', node({ type: 'Ready', status: 'False', reason: 5 })],
  ['unschedulable', node(undefined, { unschedulable: true })],
  [
    'unschedulable, taint node.kubernetes.io/unreachable:NoExecute',
    node(undefined, {
      unschedulable: true,
      taints: [
        { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
      ],
    }),
  ],
  ['', { spec: null, status: 'x' }],
  ['', 1],
])('%j', (text, raw) => {
  expect(projectNodeCondition(raw)).toBe(text);
});
