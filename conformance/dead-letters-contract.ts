import type { DeadLetters, NewDeadLetter } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** The contract of the dead letters port. Every adapter runs it with a factory that keeps at most five letters and 1,500 bytes. */
export function deadLettersContract(name: string, create: () => Promise<DeadLetters>): void {
  describe(`dead letters contract: ${name}`, () => {
    test('a letter comes back as it was set aside', async () => {
      const letters = await create();
      await letters.add(letter(7));
      const [first] = await letters.list();
      expect(first && { ...first, record: { ...first.record, payload: [...first.record.payload] } }).toEqual({
        ...letter(7),
        name: 'changes/3/7',
        record: { ...letter(7).record, payload: [0, 255, 7] },
      });
    });

    test('the same record is kept once', async () => {
      const letters = await create();
      await letters.add(letter(1));
      await letters.add({ ...letter(1), deadLetteredAt: 2000 });
      expect(await letters.list()).toHaveLength(1);
    });

    test('they are listed oldest first, and the oldest go when there are too many', async () => {
      const letters = await create();
      for (let offset = 1; offset <= 8; offset++) await letters.add(letter(offset));
      expect((await letters.list()).map(({ offset }) => offset)).toEqual([4, 5, 6, 7, 8]);
    });

    test('the oldest go when there are too many bytes, but never the newest', async () => {
      const letters = await create();
      for (let offset = 1; offset <= 3; offset++) await letters.add(letter(offset, 500));
      expect((await letters.list()).map(({ offset }) => offset).at(-1)).toBe(3);
      expect((await letters.list()).length).toBeLessThan(3);
      await letters.drop('changes/3/3');
      await letters.add(letter(4, 10));
      await letters.add(letter(5, 2_000));
      expect((await letters.list()).map(({ offset }) => offset)).toEqual([5]);
      await letters.drop('changes/3/5');
      for (let offset = 6; offset <= 8; offset++) await letters.add(letter(offset));
      expect((await letters.list()).map(({ offset }) => offset)).toEqual([6, 7, 8]);
    });

    test('one is dropped by its name', async () => {
      const letters = await create();
      await letters.add(letter(1));
      await letters.add(letter(2));
      expect(await letters.drop('changes/3/1')).toBe(true);
      expect(await letters.drop('changes/3/1')).toBe(false);
      expect((await letters.list()).map(({ name }) => name)).toEqual(['changes/3/2']);
    });
  });
}

function letter(offset: number, padding = 0): NewDeadLetter {
  return {
    topic: 'changes',
    partition: 3,
    offset,
    deadLetteredAt: 1000 + offset,
    reason: 'not JSON: "{" at 1',
    record: {
      id: `r${offset}`,
      key: 'c/ns/a',
      headers: { h: 'x' },
      payload: Uint8Array.of(0, 255, offset, ...Array<number>(padding).fill(1)),
    },
  };
}
