import { createColors } from 'picocolors';
import { expect, test } from 'vitest';
import type { NodeDisruptionView } from '../view/schemas.ts';
import { listDisruptions, printDisruptions } from './print-disruptions.ts';

const now = new Date(2026, 0, 1, 12, 0, 0).getTime();
const format = { width: 200, now, colors: createColors(false) };
const lostAt = now - 600_000;
const cart = {
  ...{
    namespace: 'shop',
    name: 'cart',
    isStartKnown: true,
    pods: 4,
    onNode: 2,
    shown: 2,
    left: 2,
    p50Ms: 140,
    maxMs: 180,
    replaced: 1,
  },
  deleted: [
    { pod: 'cart-1', at: lostAt + 300_000, reason: 'DeletionByTaintManager' },
    { pod: 'cart-2', at: lostAt + 300_000, reason: '' },
  ],
  outages: [],
  lostMs: 0,
};
const pay = {
  ...{
    ...cart,
    name: 'pay',
    pods: 1,
    onNode: 1,
    shown: 1,
    left: 0,
    p50Ms: null,
    maxMs: null,
    deleted: [],
    replaced: 0,
  },
  outages: [{ from: lostAt, to: lostAt + 458_000 }],
  lostMs: 458_000,
};
// It has the same Pods.
const cartHeadless = { ...cart, name: 'cart-headless', outages: [{ from: lostAt, to: null }], lostMs: 1 };
const disruption: NodeDisruptionView = {
  ...{ cluster: 'uid', clusterName: 'prod', node: 'n1', from: lostAt, to: lostAt + 457_000, isDeleted: false },
  events: [
    { at: lostAt, text: 'became not ready (NodeStatusUnknown)' },
    { at: lostAt + 457_000, text: 'became ready' },
  ],
  services: [cartHeadless, pay, cart],
};

test('a disruption of a Node has its events and a row for each Service', () => {
  expect(printDisruptions('n1', [disruption], format)).toBe(
    `Node n1 in prod, 11:50:00.000: 7m37s, recovered
  11:50:00.000  became not ready (NodeStatusUnknown)
  11:57:37.000  became ready
  Pods deleted: 1 DeletionByTaintManager, 1 for an unknown reason

NAMESPACE   SERVICE         ON NODE   LEFT SLICES   LONGEST   DELETED   REPLACED   NO READY ENDPOINT
shop        cart-headless   2 of 4    2 of 2        180 ms    2         1          since 11:50:00.000
shop        pay             1 of 1    0 of 1                  0         0          7m38s
shop        cart            2 of 4    2 of 2        180 ms    2         1
`,
  );
});

test('each disruption says how it ended', () => {
  const text = printDisruptions(
    'n1',
    [
      { ...disruption, to: lostAt, isDeleted: true, services: [pay] },
      { ...disruption, to: null },
    ],
    format,
  );
  const headings = text.split('\n').filter((line) => line.startsWith('Node'));
  expect(headings).toEqual([
    'Node n1 in prod, 11:50:00.000: deleted',
    'Node n1 in prod, 11:50:00.000: no recovery recorded',
  ]);
  expect(text.match(/Pods deleted/g)).toHaveLength(1);
  expect(printDisruptions('n1', [], format)).toBe('Node n1 was not disrupted in this period.\n');
});

test('the disruptions of all Nodes are a line each', () => {
  expect(listDisruptions([disruption], format)).toBe(
    'CLUSTER   NODE   SINCE          DURATION           SERVICES   WITHOUT READY ENDPOINT   FIRST EVENT\n' +
      'prod      n1     11:50:00.000   7m37s, recovered   3          2                        became not ready (NodeStatusUnknown)\n',
  );
  expect(listDisruptions([], format)).toBe('No Node with Pods of a Service was disrupted in this period.\n');
});

test('what is not known of a Service is not shown as none', () => {
  const text = printDisruptions('n1', [{ ...disruption, services: [{ ...pay, isStartKnown: false }] }], format);
  expect(text).toMatch(/^shop +pay +unknown +7m38s$/m);
});

test('text from clusters is escaped', () => {
  const events = [{ at: lostAt, text: 'became not ready (\u001b]0;x\u0007)' }];
  expect(printDisruptions('n1', [{ ...disruption, events }], format)).toContain('not ready (\\u001b]0;x\\u0007)');
});
