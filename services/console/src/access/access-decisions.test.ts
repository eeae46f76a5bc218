import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import type { Review } from '../ports.ts';
import { AccessDecisions } from './access-decisions.ts';

let clock: VirtualClock;
let decisions: AccessDecisions;
/** What API servers were asked: `cluster/namespace token`. */
let asked: string[];
/** Their answers, by `cluster/namespace`. Default: denied. */
let answers: Record<string, Review | 'none'>;

beforeEach(() => {
  clock = new VirtualClock(0);
  asked = [];
  answers = {};
  decisions = new AccessDecisions(
    {
      clusters: () => ['c1', 'c2'],
      async review(cluster, token, namespace = '*') {
        asked.push(`${cluster}/${namespace} ${token}`);
        const answer = answers[`${cluster}/${namespace}`] ?? 'denied';
        if (answer === 'none') throw new Error('connection refused');
        return answer;
      },
    },
    clock,
  );
});

const token = (value = 't') => decisions.tokenOf(value);
const inNamespace = (namespace: string, cluster = 'c1', value = 't') =>
  decisions.ofNamespace(token(value), cluster, namespace);

test('a reader of all namespaces is reviewed once', async () => {
  answers = { 'c1/*': 'allowed' };
  expect(await Promise.all([inNamespace('shop'), inNamespace('pay')])).toEqual(['allowed', 'allowed']);
  expect(asked).toEqual(['c1/* t']);
});

test('each namespace is asked for otherwise, each cluster and each token', async () => {
  answers = { 'c1/shop': 'allowed' };
  expect(await inNamespace('shop')).toBe('allowed');
  expect(await inNamespace('pay')).toBe('denied');
  expect(await inNamespace('shop', 'c2')).toBe('denied');
  expect(await inNamespace('shop', 'c1', 'u')).toBe('allowed');
  expect(asked).toEqual(['c1/* t', 'c1/shop t', 'c1/pay t', 'c2/* t', 'c2/shop t', 'c1/* u', 'c1/shop u']);
});

test('a cluster that does not accept the token is asked for no namespace', async () => {
  answers = { 'c1/*': 'unauthenticated' };
  expect(await inNamespace('shop')).toBe('unauthenticated');
  expect(asked).toEqual(['c1/* t']);
});

test('what cannot be the name of a namespace is not asked for', async () => {
  answers = { 'c1/*': 'allowed' };
  for (const name of ['', 'a b', 'Shop', '../shop', 'x'.repeat(64)]) expect(await inNamespace(name)).toBe('denied');
  expect(asked).toEqual([]);
});

test('a decision is used for a minute, so that less permission is noticed soon', async () => {
  answers = { 'c1/shop': 'allowed' };
  await inNamespace('shop');
  answers = {};
  clock.step(59_999);
  expect(await inNamespace('shop')).toBe('allowed');
  expect(asked).toHaveLength(2);
  clock.step(60_000);
  expect(await inNamespace('shop')).toBe('denied');
});

test('requests at the same time share a review', async () => {
  answers = { 'c1/shop': 'allowed' };
  await Promise.all([inNamespace('shop'), inNamespace('shop'), inNamespace('shop')]);
  expect(asked).toEqual(['c1/* t', 'c1/shop t']);
});

test('decisions of a cluster that no longer answers are used until they expire, and nothing is opened then', async () => {
  answers = { 'c1/shop': 'allowed' };
  await inNamespace('shop');
  answers = { 'c1/*': 'none', 'c1/shop': 'none', 'c1/pay': 'none' };
  clock.step(30_000);
  expect(await inNamespace('shop')).toBe('allowed');
  expect(await inNamespace('pay')).toBe('unanswered');
  expect(await inNamespace('shop', 'c2')).toBe('denied');
  clock.step(60_000);
  expect(await inNamespace('shop')).toBe('unanswered');
});

test('a token is not sent for five seconds to a cluster that does not answer; other readers do not wait', async () => {
  answers = { 'c1/*': 'none' };
  expect(await inNamespace('shop')).toBe('unanswered');
  answers = { 'c1/*': 'allowed' };
  clock.step(4_999);
  expect(await inNamespace('shop')).toBe('unanswered');
  expect(await inNamespace('shop', 'c1', 'u')).toBe('allowed');
  clock.step(5_000);
  expect(await inNamespace('shop')).toBe('allowed');
});

test('the number of decisions is bounded', async () => {
  answers = { 'c1/*': 'unauthenticated' };
  await decisions.ofCluster(token('first'), 'c1');
  for (let n = 0; n < 50_000; n++) await decisions.ofCluster(token(`t${n}`), 'c1');
  asked = [];
  await decisions.ofCluster(token('t49999'), 'c1');
  expect(asked).toEqual([]);
  await decisions.ofCluster(token('first'), 'c1');
  expect(asked).toEqual(['c1/* first']);
});
