import { expect, test } from 'vitest';
import type { DrainView, PropagationView } from '../view/schemas.ts';
import { listDrains, listOutages, listProblems, listPropagations, listReadinessChanges } from './print-answers.ts';

const now = new Date(2026, 0, 1, 12, 0, 0).getTime();
/** Of a recording that has ended. */
const format = { width: 200, now, until: now - 30_000 };
const outage = {
  ...{ cluster: 'uid', clusterName: 'west', namespace: 'shop', name: 'web', from: now - 60_000, to: now },
  ...{ reason: 'NoReadyEndpoints', message: '1 Pod: 1 not ready' },
};

test('each outage is a line', () => {
  const text = listOutages(
    [
      { ...outage, isStartKnown: true, event: 'Pod shop/web-1 deleted' },
      { ...outage, to: null, isStartKnown: false, event: null },
    ],
    format,
  );
  expect(text.split('\n').map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'SINCE', 'DURATION', 'LAST EVENT BEFORE'],
    ['west', 'shop', 'web', '11:59:00.000', '60 s', 'Pod shop/web-1 deleted'],
    ['west', 'shop', 'web', 'before 11:59:00.000', 'continues'],
    [''],
  ]);
});

test('none is said so', () => {
  expect(listOutages([], format)).toBe('No Service was without a ready endpoint in this period.\n');
});

test('each problem is a line, and none is said so', () => {
  const text = listProblems(
    [
      { ...outage, severity: 'critical', to: null, isStartKnown: true, event: 'Pod shop/web-1 deleted' },
      { ...outage, severity: 'warning', reason: 'StaleMirror', message: 'differ', isStartKnown: false, event: null },
    ],
    format,
    '',
  );
  const web = ['west', 'shop', 'web'];
  expect(lines(text)).toEqual([
    ['SEVERITY', 'CLUSTER', 'NAMESPACE', 'SERVICE', 'REASON', 'SINCE', 'DURATION', 'MESSAGE'],
    ['critical', ...web, 'NoReadyEndpoints', '11:59:00.000', '30.0 s, continues', outage.message],
    ['warning', ...web, 'StaleMirror', 'before 11:59:00.000', '60 s', 'differ'],
    [''],
  ]);
  expect(listProblems([], format, 'None.')).toBe('None.');
});

const lines = (text: string) => text.split('\n').map((line) => line.trimEnd().split(/ {2,}/));
const name = { cluster: 'uid', clusterName: 'west', namespace: 'shop', name: 'web' };
const propagation: PropagationView = {
  ...{
    ...name,
    pod: 'web-1',
    place: 'slices',
    from: 'ready',
    to: 'not ready',
    event: 'Pod shop/web-1 became not ready',
  },
  ...{ startedAt: now - 60_000, isStartKnown: true, endedAt: now - 59_993, end: 'written' },
};

test('each propagation is a line', () => {
  const text = listPropagations(
    [
      { ...propagation, isStartKnown: false, endedAt: null, end: null },
      { ...propagation, end: 'superseded' },
      propagation,
    ],
    format,
    '',
  );
  const common = ['west', 'shop', 'web', 'web-1', 'ready → not ready', 'slices'];
  expect(lines(text)).toEqual([
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'POD', 'CHANGE', 'IN', 'SINCE', 'TOOK', 'EVENT'],
    [...common, 'before 11:59:00.000', '30.0 s, continues', propagation.event],
    [...common, '11:59:00.000', '7.0 ms, superseded', propagation.event],
    [...common, '11:59:00.000', '7.0 ms', propagation.event],
    [''],
  ]);
});

test('each Pod with changes of readiness is a line', () => {
  expect(
    lines(listReadinessChanges([{ ...name, pod: 'web-1', changes: 12, firstAt: now - 60_000, lastAt: now }], format)),
  ).toEqual([
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'POD', 'CHANGES', 'LAST'],
    ['west', 'shop', 'web', 'web-1', '12', '12:00:00.000'],
    [''],
  ]);
});

test('drains say what they assume', () => {
  const drain: DrainView = {
    ...{ ...name, removals: 3, p50Ms: 4, p99Ms: 900, maxMs: 1_100, proxyDelayMs: 2_000, neededSeconds: 3 },
    ...{ preStop: ['exec', 'sleep 5 s'], gracePeriodSeconds: 30, isLongEnough: false },
  };
  const unknown = { ...drain, preStop: [], gracePeriodSeconds: null, isLongEnough: null };
  const [head, ...rest] = lines(listDrains([drain, unknown, { ...drain, isLongEnough: true }], format));
  const columns = ['REMOVALS', 'P50', 'P99', 'LONGEST', 'NEEDED', 'PRESTOP', 'ENOUGH', 'GRACE'];
  expect(head).toEqual(['CLUSTER', 'NAMESPACE', 'SERVICE', ...columns]);
  const measured = ['west', 'shop', 'web', '3', '4.0 ms', '900 ms', '1.1 s', '3 s'];
  expect(rest.slice(0, 3)).toEqual([
    [...measured, 'exec, sleep 5 s', 'no', '30 s'],
    [...measured, 'unknown'],
    [...measured, 'exec, sleep 5 s', 'yes', '30 s'],
  ]);
  expect(rest.flat().join(' ')).toContain('2.0 s later (--proxy-delay)');
});

test('an empty answer is a sentence', () => {
  expect(listPropagations([], format, 'none\n')).toBe('none\n');
  expect(listReadinessChanges([], format)).toBe('No Pod became ready or not ready in this period.\n');
  expect(listDrains([], format)).toBe('No ready Pod was deleted in this period.\n');
});
