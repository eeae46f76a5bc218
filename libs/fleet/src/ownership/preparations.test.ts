import { beforeEach, expect, test } from 'vitest';
import { Preparations } from './preparations.ts';

const lease = (scope: string, fencingToken = 1) => ({ scope, holder: 'a', fencingToken, started: true });
const settled = () => new Promise((resolve) => setImmediate(resolve));

let prepared: Map<string, PromiseWithResolvers<void>>;
let calls: string[];
let woken: number;
let preparations: Preparations;

beforeEach(() => {
  [prepared, calls, woken] = [new Map(), [], 0];
  const prepare = (scope: string) => {
    calls.push(scope);
    const waiting = prepared.get(scope) ?? Promise.withResolvers();
    prepared.set(scope, waiting);
    return waiting.promise;
  };
  preparations = new Preparations(prepare, () => void woken++);
});

const finish = async (scope: string) => {
  prepared.get(scope)?.resolve();
  await settled();
};

test('a prepared scope is reported once, and prepared as long as it is handed over', async () => {
  preparations.update([lease('s1'), lease('s2')]);
  expect([calls, preparations.pending]).toEqual([['s1', 's2'], []]);
  await finish('s1');
  expect([preparations.pending, woken]).toEqual([['s1'], 1]);
  preparations.reported(['s1']);
  preparations.update([lease('s1'), lease('s2')]);
  await settled();
  expect([calls, preparations.pending, woken]).toEqual([['s1', 's2', 's1', 's2'], [], 1]);
});

test('a scope that is not handed over any more is not reported, unless it is handed over again', async () => {
  preparations.update([lease('s1')]);
  preparations.update([]);
  await finish('s1');
  expect([preparations.pending, woken]).toEqual([[], 0]);
  preparations.update([lease('s1')]);
  await settled();
  expect(preparations.pending).toEqual(['s1']);
});

test('a scope is reported again under the next lease of its holder', async () => {
  preparations.update([lease('s1')]);
  await finish('s1');
  preparations.reported(['s1']);
  preparations.update([lease('s1', 2)]);
  await settled();
  expect(preparations.pending).toEqual(['s1']);
});

test('a preparation that fails does not keep the holder waiting', async () => {
  preparations.update([lease('s1')]);
  prepared.get('s1')?.reject(new Error('cluster unreachable'));
  await settled();
  expect(preparations.pending).toEqual(['s1']);
});
