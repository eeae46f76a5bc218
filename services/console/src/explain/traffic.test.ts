import type { Fact } from '@sluice/messages';
import type { Pod, Service } from '@sluice/model';
import { aService, aSlice, httpPort } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import { journalOf, pod, service, snapshot } from '../testing/records.ts';
import { isReachable, trafficProblem } from './traffic.ts';

const http = { name: 'http', protocol: 'TCP', containerPort: 8080 };
const dns = { name: 'dns', protocol: 'UDP', containerPort: 53 };
const named = (targetPort: string, given: object = {}) => ({ ...httpPort, name: targetPort, targetPort, ...given });

const problem = (counts: { ready: number; endpoints: number }, ...facts: Fact[]) =>
  trafficProblem(journalOf(snapshot(1, 1_000, facts)).state, counts);
const healthy = { ready: 2, endpoints: 2 };

test.each<[boolean, string, Service | null, string[] | null]>([
  [true, 'with a port', aService(), ['http']],
  [false, 'without one, although the Service has ports', aService(), []],
  [false, 'with ports that are null', aService(), null],
  [true, 'without one, as the Service has none', aService({ ports: [] }), []],
  [true, 'of a Service that does not exist', null, []],
])('a proxy can reach endpoints: %s, %s', (reachable, _, given, names) => {
  const ports = names === null ? null : names.map((name) => ({ name, protocol: 'TCP', port: 8080 }));
  expect(isReachable(given, { ...aSlice('web-x'), ports })).toBe(reachable);
});

describe('a port that no Pod has', () => {
  const about = (ports: Service['ports'], ...pods: Partial<Pod>[]) =>
    problem(healthy, service({ ports }), ...pods.map((given, i) => pod(`web-${i}`, given)));

  test.each<[string, Service['ports'], Partial<Pod>[]]>([
    [
      'port web refers to container port "web", which no Pod has (available: admin, http)',
      [named('web')],
      [{ ports: [http] }, { ports: [{ ...http, name: 'admin' }, http] }],
    ],
    [
      'port web refers to container port "web", which no Pod has (no Pod names a container port)',
      [named('web')],
      [{ ports: [dns] }],
    ],
    [
      'port 80 refers to container port "dns", which no Pod has (available: http)',
      [{ ...named('dns'), name: '' }],
      [{ ports: [http, dns] }],
    ],
    [
      'port a refers to container port "a", which no Pod has (available: http); ' +
        'port b refers to container port "b", which no Pod has (available: http)',
      [named('a'), named('http'), named('b')],
      [{ ports: [http] }],
    ],
  ])('%s', (text, ports, pods) => {
    expect(about(ports, ...pods)).toBe(text);
  });

  test('is no problem if one Pod has it, if no Pod runs, or if it is a number', () => {
    expect(about([named('http')], { ports: [http] }, { ports: [] })).toBe('');
    expect(about([named('web')], { ports: [http], terminal: true })).toBe('');
    expect(about([named('web')])).toBe('');
    expect(about([httpPort], { ports: [] })).toBe('');
  });
});

describe('a Pod whose Node does not exist', () => {
  test('is counted by Node, with the endpoints that are not ready and the ports that no Pod has', () => {
    const leftOut = [pod('web-1', {}, null), pod('web-2', {}, null), pod('web-3', { nodeName: 'node-b' }, null)];
    expect(problem(healthy, service(), pod('web-4', {}), ...leftOut)).toBe(
      '2 ready, 2 Pods left out because Node node-a does not exist, 1 Pod left out because Node node-b does not exist',
    );
    const ports = [named('http'), named('web')];
    const facts = [service({ ports }), pod('web-4', { ports: [http] }), pod('web-1', {}, null)];
    const text = 'port web refers to container port "web", which no Pod has (available: http)';
    expect(problem({ ready: 1, endpoints: 2 }, ...facts)).toBe(
      `1 ready, 1 not ready, 1 Pod left out because Node node-a does not exist, ${text}`,
    );
    expect(problem({ ready: 0, endpoints: 2 }, ...facts)).toBe(
      `no reachable endpoints: ${text}; 1 Pod left out because Node node-a does not exist`,
    );
  });

  test.each<[string, Partial<Service>, Partial<Pod>]>([
    ['it is not ready', {}, { ready: false }],
    ['it is being deleted', {}, { terminating: true }],
    ['it has terminated', {}, { terminal: true }],
    ['it is not scheduled', {}, { nodeName: '' }],
    ['the Service publishes not-ready addresses', { publishNotReadyAddresses: true }, {}],
  ])('is no problem if %s', (_, serviceGiven, given) => {
    expect(problem(healthy, service(serviceGiven), pod('web-1', given, null))).toBe('');
  });
});

test.each<[string, Fact[]]>([
  ['does not exist', []],
  ['has no selector', [service({ selector: null, ports: [named('web')] })]],
  ['is of type ExternalName', [service({ type: 'ExternalName', ports: [named('web')] })]],
])('a Service that %s has no Pods that could get traffic', (_, facts) => {
  expect(problem({ ready: 0, endpoints: 0 }, ...facts, pod('web-1', { ports: [http] }), pod('web-2', {}, null))).toBe(
    '',
  );
});
