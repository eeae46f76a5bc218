import { randomInteger, seededRandom } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { isLinearizable, type Operation, type SequentialModel } from './linearizability.ts';

/** Writes a value, or reads one. An unanswered read tells nothing. */
type Access = { readonly write: number } | { readonly read: number };

const register: SequentialModel<number, Access> = {
  initial: 0,
  step: (value, access) => ('write' in access ? access.write : access.read === value ? value : undefined),
  keyOf: String,
};

const never = Number.POSITIVE_INFINITY;
const at = (calledAt: number, returnedAt: number, operation: Access): Operation<Access> => ({
  calledAt,
  returnedAt,
  operation,
});

describe('a history of a register is linearizable', () => {
  test.each<[string, readonly Operation<Access>[]]>([
    ['if it is empty', []],
    ['if each read returns the last write', [at(1, 2, { write: 1 }), at(3, 4, { read: 1 }), at(5, 6, { read: 1 })]],
    [
      'if concurrent reads see a write at different moments',
      // From the tests of Porcupine.
      [at(0, 100, { write: 100 }), at(25, 75, { read: 100 }), at(30, 60, { read: 0 })],
    ],
    [
      'if one order of concurrent writes explains the reads',
      [at(0, 10, { write: 1 }), at(1, 11, { write: 2 }), at(12, 13, { read: 1 })],
    ],
    [
      'if a write without an answer took effect',
      [at(0, never, { write: 1 }), at(1, 2, { read: 0 }), at(3, 4, { read: 1 })],
    ],
    ['if a write without an answer took no effect', [at(0, never, { write: 1 }), at(1, 2, { read: 0 })]],
  ])('%s', (_, history) => expect(isLinearizable(register, history)).toBe(true));
});

describe('a history of a register is not linearizable', () => {
  test.each<[string, readonly Operation<Access>[]]>([
    ['if a read returns what nobody has written', [at(1, 2, { write: 1 }), at(3, 4, { read: 2 })]],
    ['if a read returns an overwritten value', [at(1, 2, { write: 1 }), at(3, 4, { write: 2 }), at(5, 6, { read: 1 })]],
    [
      'if a later read does not see what an earlier one saw',
      // From the tests of Porcupine.
      [at(0, 100, { write: 200 }), at(10, 30, { read: 200 }), at(40, 90, { read: 0 })],
    ],
    [
      'if a write without an answer has effect twice',
      [
        ...[at(0, never, { write: 1 }), at(1, 2, { read: 1 }), at(3, 4, { write: 2 })],
        ...[at(5, 6, { read: 2 }), at(7, 8, { read: 1 })],
      ],
    ],
    ['if a read saw a write before it was sent', [at(0, 1, { read: 1 }), at(2, 3, { write: 1 })]],
  ])('%s', (_, history) => expect(isLinearizable(register, history)).toBe(false));
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])('agrees with all orders of random histories (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const found = new Set<boolean>();
  for (let n = 0; n < 200; n++) {
    const history = Array.from({ length: randomInteger(random, 1, 5) }, () => {
      const calledAt = randomInteger(random, 0, 20);
      const returnedAt = random.next() < 0.15 ? never : calledAt + randomInteger(random, 1, 10);
      const value = randomInteger(random, 0, 2);
      const isWrite = returnedAt === never || random.next() < 0.5;
      // Unequal positions: two events at one position have no order.
      return at(calledAt + n / 1_000, returnedAt + 0.5, isWrite ? { write: value } : { read: value });
    });
    const is = isLinearizable(register, history);
    expect(is, JSON.stringify(history)).toBe(hasOrder(0, history));
    found.add(is);
  }
  expect(found.size).toBe(2);
});

/** Tries all orders. An operation can be next if no other one has returned before its call. */
function hasOrder(value: number, left: readonly Operation<Access>[]): boolean {
  if (left.every(({ returnedAt }) => returnedAt === never)) return true;
  return left.some((next) => {
    if (left.some(({ returnedAt }) => returnedAt < next.calledAt)) return false;
    const after = register.step(value, next.operation);
    return (
      after !== undefined &&
      hasOrder(
        after,
        left.filter((other) => other !== next),
      )
    );
  });
}

test('examines long histories with unanswered operations in linear time', () => {
  const history = Array.from({ length: 2_000 }, (_, i) => {
    const returnedAt = i % 100 === 0 ? never : 3 * i + 1;
    return at(3 * i, returnedAt, i % 2 === 0 ? { write: i } : { read: i - 1 });
  });
  expect(isLinearizable(register, history)).toBe(true);
});

test('a history with too many orders counts as linearizable', () => {
  const unanswered = Array.from({ length: 40 }, (_, i) => at(i, never, { write: i + 1 }));
  expect(isLinearizable(register, [...unanswered, at(50, 51, { read: -1 })])).toBe(true);
  expect(isLinearizable(register, [...unanswered.slice(0, 5), at(50, 51, { read: -1 })])).toBe(false);
});
