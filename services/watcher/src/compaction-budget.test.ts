import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CompactionBudget } from './compaction-budget.ts';

const minute = 60_000;
const hour = 60 * minute;

test('in no hour are more writes spent than the budget, however they are spread', () => {
  const spends = fc.array(
    fc.record({ afterMs: fc.nat(40 * minute), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), spends, (writesPerHour, steps) => {
      const budget = new CompactionBudget(writesPerHour, 0);
      const spent: { readonly at: number; readonly writes: number }[] = [];
      let at = 0;
      for (const { afterMs, share } of steps) {
        at += afterMs;
        const writes = Math.floor(budget.available(at) * share);
        budget.spend(writes);
        spent.push({ at, writes });
        const within = spent.filter((one) => one.at > at - hour).reduce((sum, one) => sum + one.writes, 0);
        expect(within).toBeLessThanOrEqual(writesPerHour);
      }
    }),
  );
});

test('starts empty, and most of it can be spent in an hour', () => {
  const budget = new CompactionBudget(1_000, 0);
  expect(budget.available(0)).toBe(0);
  let spent = 0;
  for (let at = 0; at <= hour; at += 5 * minute) {
    const writes = budget.available(at);
    budget.spend(writes);
    spent += writes;
  }
  expect(spent).toBe(900);
});
