import { expect, test } from 'vitest';
import { fuzz } from './fuzz.ts';
import { fuzzTargets } from './targets.ts';

const seed = 17;

test.each(fuzzTargets)(`$name: no input breaks the decoder (seed ${seed})`, async (target) => {
  const { failures, runs } = await fuzz(target, {
    seed,
    continues: (done) => done < 300,
    now: () => performance.now(),
  });
  expect(failures.map(({ run, reason }) => `run ${run}: ${reason}`)).toEqual([]);
  expect(runs).toBeGreaterThanOrEqual(300);
});

test('a decoder that breaks is reported with the input', async () => {
  const broken = {
    name: 'broken',
    corpus: [Buffer.from('abc')],
    run: (input: Buffer) => {
      if (!input.equals(Buffer.from('abc'))) throw new TypeError('cannot read properties of undefined');
    },
  };
  const { failures, runs } = await fuzz(broken, { seed, continues: () => true, now: () => 0 });
  expect(failures).toHaveLength(10);
  expect(failures[0]).toMatchObject({ target: 'broken', reason: 'TypeError: cannot read properties of undefined' });
  expect(runs).toBeGreaterThan(10);
});

test('a decoder that takes too long is reported', async () => {
  let time = 0;
  const run = () => {
    time += 9000;
  };
  const slow = { name: 'slow', corpus: [Buffer.from('a')], run };
  const { failures } = await fuzz(slow, { seed, continues: () => false, now: () => time });
  expect(failures.map(({ reason }) => reason)).toEqual(['it took 9000 ms']);
});
