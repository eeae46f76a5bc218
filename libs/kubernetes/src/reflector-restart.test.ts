import { seededRandom, silentLogger } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { ClusterReader } from './cluster.ts';
import { Reflector } from './reflector.ts';
import { wholeObject } from './reflector-options.ts';
import { error, event, page, scripted } from './testing/scripted-reader.ts';

function start({ cluster, clock }: ReturnType<typeof scripted>, given: Partial<ClusterReader> = {}) {
  const stop = new AbortController();
  const reflector = new Reflector({
    ...{ cluster: { ...cluster, ...given }, resource: 'pods', decode: wholeObject, clock, random: seededRandom(1) },
    ...{ logger: silentLogger, sink: { replace: () => {}, apply: () => {} } },
  });
  const running = reflector.run(stop.signal);
  onTestFinished(() => {
    stop.abort();
    return running;
  });
  return reflector;
}

test('an open watch is replaced by one from the last version, which is no failure', async () => {
  const script = scripted(
    [page([], '10')],
    [
      [[], [event('ADDED', 'a', '11')], 'silence'],
      [[], 'silence'],
    ],
  );
  const reflector = start(script);
  await advance(script.clock, 5_000);
  reflector.restart();
  await advance(script.clock, 0);
  expect(script.asked).toEqual(['0 list 500', '0 watch 10', '5000 watch 11']);
  expect(reflector.status()).toMatchObject({ state: 'watching', errors: 0 });
});

test('a wait after a failure ends', async () => {
  const failures = Array.from({ length: 8 }, () => error('retry', 503));
  const script = scripted([...failures, page([], '10')], [[[], 'silence']]);
  const reflector = start(script);
  await advance(script.clock, 60_000);
  const { length } = script.asked;
  expect(reflector.status().state).toBe('retrying');
  reflector.restart();
  await advance(script.clock, 0);
  expect(script.asked.slice(length)[0]).toMatch(/^60000 list/);
});

test('a list that is slow to answer is not interrupted', async () => {
  const script = scripted([], []);
  const answer = Promise.withResolvers<ReturnType<typeof page>>();
  const reflector = start(script, { list: () => answer.promise });
  await advance(script.clock, 1_000);
  reflector.restart();
  answer.resolve(page([], '10'));
  await advance(script.clock, 0);
  expect(reflector.status()).toMatchObject({ state: 'watching', lists: 1, errors: 0 });
});
