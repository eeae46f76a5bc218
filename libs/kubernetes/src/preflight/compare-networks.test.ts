import { joinRanges, parseCidr } from '@sluice/model';
import { expect, test } from 'vitest';
import type { ClusterNetwork, Reading } from './cluster-network.ts';
import { compareNetworks } from './compare-networks.ts';

const ranges = (...cidrs: readonly string[]): ClusterNetwork['podRanges'] => ({
  value: joinRanges(cidrs.flatMap((cidr) => parseCidr(cidr) ?? [])),
});
const uses = (...all: readonly (readonly [address: string, user: string])[]): ClusterNetwork['podAddresses'] => ({
  value: all.map(([address, user]) => ({ address, user })),
});
const network = (name: string, parts: Partial<ClusterNetwork> = {}): ClusterNetwork => ({
  ...{ name, identity: { value: `uid-${name}` }, podRanges: ranges(), serviceRanges: ranges() },
  ...{ nodeAddresses: uses(), podAddresses: uses(), ...parts },
});
const unread: Reading<never> = { unread: 'missing: list nodes' };

const lines = (...networks: readonly ClusterNetwork[]) =>
  compareNetworks(networks).map(({ result, check, detail }) => `${result} ${check}: ${detail}`);

test('clusters with distinct addresses are fine', () => {
  const east = network('east', { podRanges: ranges('10.0.0.0/24'), podAddresses: uses(['10.0.0.1', 'shop/a']) });
  const west = network('west', { podRanges: ranges('10.0.1.0/24'), podAddresses: uses(['10.0.1.1', 'shop/a']) });
  expect(lines(east, west)).toEqual([
    'ok identity: distinct in 2 clusters',
    'ok Pod CIDRs: distinct in 2 clusters',
    'ok Service CIDRs: distinct in 2 clusters',
    'ok Node addresses: distinct in 2 clusters',
    'ok Pod addresses: distinct in 2 clusters',
  ]);
});

test('overlaps are named with both clusters, their ranges and Nodes', () => {
  const shared = { serviceRanges: ranges('10.96.0.0/16'), nodeAddresses: uses(['192.168.0.1', 'node-1']) };
  const pods = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map((ip, i) => [ip, `shop/web-${i}`] as const);
  const cidrs = ['10.0.0.0/24', '10.0.1.0/24', '10.0.4.0/24'];
  const east = network('east', { ...shared, podRanges: ranges(...cidrs), podAddresses: uses(...pods) });
  const west = network('west', { ...shared, podRanges: ranges('10.0.0.0/16'), podAddresses: uses(...pods) });
  expect(lines(east, west)).toEqual([
    'ok identity: distinct in 2 clusters',
    'warning Pod CIDRs: east 10.0.0.0/23 and 1 more (3 Nodes) overlaps west 10.0.0.0/16 (1 Node)',
    'note Service CIDRs: east 10.96.0.0/16 overlaps west 10.96.0.0/16',
    'warning Node addresses: 1 address of Nodes in more than one cluster: 192.168.0.1 (east/node-1 and west/node-1)',
    'warning Pod addresses: 4 addresses of Pods in more than one cluster: ' +
      '10.0.0.1 (east/shop/web-0 and west/shop/web-0), 10.0.0.2 (east/shop/web-1 and west/shop/web-1), ' +
      '10.0.0.3 (east/shop/web-2 and west/shop/web-2) and 1 more',
  ]);
  const [, found] = compareNetworks([east, west]);
  expect(found).toMatchObject({ about: 'clusters', advice: expect.stringContaining('Sluice does not') });
});

test('a Node with a range of each family counts once', () => {
  const podRanges = ranges('10.0.0.0/24', '10.0.1.0/24', 'fd00::/64', 'fd00:0:0:1::/64');
  expect(lines(network('east', { podRanges }), network('west', { podRanges }))).toContain(
    'warning Pod CIDRs: east 10.0.0.0/23 and 1 more (2 Nodes) overlaps west 10.0.0.0/23 and 1 more (2 Nodes)',
  );
});

test('two names for one cluster are named, and not compared', () => {
  const parts = { identity: { value: 'uid' }, podRanges: ranges('10.0.0.0/24') };
  const [east, again] = [network('east', parts), network('again', parts)];
  const same = 'warning identity: east and again are the same cluster: kube-system has the uid uid';
  expect(lines(east, again)).toEqual([same]);
  const west = network('west', { podRanges: ranges('10.0.1.0/24') });
  expect(lines(east, again, west)).toContain('ok Pod CIDRs: distinct in 2 clusters');
});

test('what could not be read is never ok', () => {
  const all = {
    identity: unread,
    podRanges: unread,
    serviceRanges: unread,
    nodeAddresses: unread,
    podAddresses: unread,
  };
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const checks = ['identity', 'Pod CIDRs', 'Service CIDRs', 'Node addresses', 'Pod addresses'];
  expect(lines(...names.map((name) => network(name, all)))).toEqual(
    checks.map((check) => `note ${check}: not checked: a, b, c, d, e and 2 more: missing: list nodes`),
  );
  expect(lines(network('east'), network('west', { podRanges: unread }), network('north')).slice(1, 3)).toEqual([
    'ok Pod CIDRs: distinct in 2 clusters',
    'note Pod CIDRs: not checked: west: missing: list nodes',
  ]);
});

test('of many clusters that overlap, ten pairs are named and the clusters counted', () => {
  const many = Array.from({ length: 100 }, (_, i) => network(`c${i}`, { podRanges: ranges('10.244.0.0/16') }));
  const found = lines(...many).filter((line) => line.startsWith('warning'));
  expect(found).toHaveLength(11);
  expect(found.at(-1)).toBe('warning Pod CIDRs: 100 of 100 clusters overlap another; 10 pairs are named');
});
