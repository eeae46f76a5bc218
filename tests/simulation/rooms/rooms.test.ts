import { expect, test } from 'vitest';
import { Violations } from '../violations.ts';
import { same } from './room.ts';
import { checkRooms, rooms, runRoom } from './rooms.ts';

const found = async (room: Parameters<typeof runRoom>[0], seed: number) => {
  const violations = new Violations(() => 0);
  await runRoom(room, seed, violations);
  return violations.all;
};

/** For a first look. The evidence is in the thousands of seeds that `npm run simulate` runs. */
test.each(rooms.map((room) => [room.invariant, room] as const))('%s', async (_, room) => {
  for (let seed = 1; seed <= 8; seed++) expect(await found(room, seed), `seed ${seed}`).toEqual([]);
});

test('a wrong answer and an exception are what is wrong with a room', async () => {
  const invariant = 'sums are right';
  const wrong = { invariant, run: () => same('1 + 1', 3, 2) };
  expect(await found(wrong, 1)).toMatchObject([{ invariant, what: '1 + 1: 3 instead of 2' }]);
  const failing = {
    invariant,
    run: () => {
      throw new TypeError('no sum');
    },
  };
  expect(await found(failing, 1)).toMatchObject([{ invariant, what: expect.stringContaining('TypeError: no sum') }]);
});

test('a seed runs some rooms, and the next ones others', async () => {
  expect((await checkRooms(1)).all).toEqual([]);
});
