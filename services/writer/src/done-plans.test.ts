import { expect, test } from 'vitest';
import { DonePlans } from './done-plans.ts';

const plan = (number: number, epoch = 1) => ({ epoch, number });

test('a plan is done once, and so are those that it replaced; others of the lane are not', () => {
  const done = new DonePlans();
  done.add('web', plan(5));
  expect([4, 5, 6].map((number) => done.covers('web', plan(number)))).toEqual([true, true, false]);
  expect(done.covers('db', plan(4))).toBe(false);
});

test('what the checkpoint has passed is one mark, whatever its Service', () => {
  const done = new DonePlans();
  done.add('web', plan(1));
  done.add('db', plan(3));
  expect(done.pass([plan(1), plan(2)])).toEqual([{ key: 'lane', field: 'done', value: plan(2) }]);
  expect(done.pass([plan(2)])).toEqual([]);
  expect([2, 3].map((number) => done.covers('cart', plan(number)))).toEqual([true, false]);
  expect(done.covers('db', plan(3))).toBe(true);
});

test('it goes on from what was stored; a new owner of the partition begins its numbers anew', () => {
  const [before, after] = [new DonePlans(), new DonePlans()];
  after.load(before.pass([plan(7)]));
  expect(after.covers('web', plan(7))).toBe(true);
  expect(after.covers('web', plan(1, 2))).toBe(false);
});
