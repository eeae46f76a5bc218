import { aPodNamed, aService } from '@sluice/model/testing';
import { expect, test } from 'vitest';
import type { Change, Fact } from './change.ts';
import { decodeMessage, encodeMessage } from './codec.ts';
import { digestFacts, shortDigest } from './digest-facts.ts';

const pod = (name: string, { ready = true, zone = 'a' }: { ready?: boolean; zone?: string } = {}): Fact => {
  const ports = [{ name: 'http', protocol: 'TCP', containerPort: 80 }];
  return { kind: 'pod', name, node: { zone }, pod: aPodNamed(name, { ready, ports }) };
};

const service = (labels: Readonly<Record<string, string>>): Fact => ({
  kind: 'service',
  service: aService({ name: 'cart', labels }),
});

const slice = (name: string, resourceVersion: string): Fact => ({
  kind: 'slice',
  name,
  uid: `uid-${name}`,
  slice: {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion },
    addressType: 'IPv4',
    endpoints: [],
  },
});

const topology: Fact = { kind: 'topology', topology: { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } } };
const facts = [service({ a: '1', b: '2' }), topology, pod('cart-1'), pod('cart-2'), slice('s', '5'), slice('t', '6')];
const short = (given: readonly Fact[]) => shortDigest(digestFacts(given));

test('does not depend on the order of facts and fields, and survives encoding', () => {
  const [, ...others] = facts;
  const reordered = [...others.reverse(), service({ b: '2', a: '1' })];
  expect(digestFacts(reordered)).toEqual(digestFacts(facts));
  const key = { cluster: 'c', namespace: 'shop', service: 'cart' };
  const change: Change = {
    kind: 'change',
    key,
    stamp: { epoch: 1, sequence: 1 },
    facts,
    causes: { first: [], more: 0 },
  };
  const decoded = decodeMessage(encodeMessage({ ...change, digest: digestFacts(facts) })) as Change;
  expect(digestFacts(decoded.facts)).toEqual(decoded.digest);
});

test.each<[string, readonly Fact[]]>([
  ['a label', [service({ a: '1', b: '3' }), ...facts.slice(1)]],
  ['a missing Pod', facts.filter((fact) => fact.kind !== 'pod' || fact.name !== 'cart-2')],
  ['a Pod’s readiness', facts.map((fact) => (fact.kind === 'pod' ? pod(fact.name, { ready: false }) : fact))],
  ['a zone', facts.map((fact) => (fact.kind === 'pod' ? pod(fact.name, { zone: 'b' }) : fact))],
  ['no topology', facts.filter(({ kind }) => kind !== 'topology')],
  ['a slice’s version', [...facts.slice(0, -1), slice('t', '7')]],
])('%s changes the digest', (_, given) => {
  expect(short(given)).not.toBe(short(facts));
});

test('a null fact is the same as no fact', () => {
  const absent: Fact[] = [
    { kind: 'service', service: null },
    { kind: 'topology', topology: null },
    { kind: 'pod', name: 'p', pod: null, node: null },
    { kind: 'endpoints', endpoints: null, uid: 'u' },
    { kind: 'slice', name: 's', slice: null, uid: 'u' },
  ];
  expect(digestFacts(absent)).toEqual(digestFacts([]));
});

test('a digest keeps its value between versions, because processes compare digests during a rolling upgrade', () => {
  const given = [service({ b: 'two', a: '"quoted"\n', 'a/é': 'ü' }), ...facts.slice(1)];
  const expected = { service: 'k4LrRMBvOypoaC_p', pods: 'ibEPPsqy2de8hpND', topology: 'ELfDPMBCiEHhtzWA' };
  expect(digestFacts(given)).toMatchObject(expected);
});

test('is right in a fleet of two versions: a reader keeps the fields that a newer watcher adds', () => {
  const added = { addedLater: { since: 'a newer version' } };
  const newer = [service({ a: '1' }), pod('cart-1'), topology].map((fact): Fact => {
    switch (fact.kind) {
      case 'service': {
        const ports = [{ name: '', protocol: 'TCP', port: 80, targetPort: 80, appProtocol: null, ...added }];
        return { ...fact, service: fact.service && { ...fact.service, ports, ...added } };
      }
      case 'pod': {
        const unready = { status: 'False', reason: '', message: '', ...added };
        const ports = [{ name: 'http', protocol: 'TCP', containerPort: 80, ...added }];
        const none = { owner: '', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: [] };
        const details = { ...none, ...added };
        const changed = fact.pod && { ...fact.pod, unready, ports, details, ...added };
        return { ...fact, pod: changed, node: { zone: 'a', ...added } };
      }
      default:
        return fact;
    }
  });
  const key = { cluster: 'c', namespace: 'shop', service: 'cart' };
  const head = { kind: 'change', key, stamp: { epoch: 1, sequence: 1 }, causes: { first: [], more: 0 } } as const;
  const digest = digestFacts(newer);
  const decoded = decodeMessage(encodeMessage({ ...head, facts: newer, digest })) as Change;
  expect(digestFacts(decoded.facts)).toEqual(decoded.digest);
});
