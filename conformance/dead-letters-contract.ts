import type { DeadLetters, NewDeadLetter } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** The contract of the dead letters port. Every adapter runs it, with a capacity of five dead letters and 1,500 bytes. */
export function deadLettersContract(name: string, create: () => Promise<DeadLetters>): void {
  describe(`dead letters contract: ${name}`, () => {
    test('returns a dead letter as it was added', async () => {
      const deadLetters = await create();
      await deadLetters.add(deadLetter(7));
      const [first] = await deadLetters.list();
      expect(first && { ...first, record: { ...first.record, payload: [...first.record.payload] } }).toEqual({
        ...deadLetter(7),
        name: 'changes/3/7',
        record: { ...deadLetter(7).record, payload: [0, 255, 7] },
      });
    });

    test('stores the same record once', async () => {
      const deadLetters = await create();
      await deadLetters.add(deadLetter(1));
      await deadLetters.add({ ...deadLetter(1), deadLetteredAt: 2000 });
      expect(await deadLetters.list()).toHaveLength(1);
    });

    test('lists the oldest first and drops the oldest beyond the capacity', async () => {
      const deadLetters = await create();
      for (let offset = 1; offset <= 8; offset++) await deadLetters.add(deadLetter(offset));
      expect((await deadLetters.list()).map(({ offset }) => offset)).toEqual([4, 5, 6, 7, 8]);
    });

    test('drops the oldest beyond the size limit, but never the newest', async () => {
      const deadLetters = await create();
      for (let offset = 1; offset <= 3; offset++) await deadLetters.add(deadLetter(offset, 500));
      expect((await deadLetters.list()).map(({ offset }) => offset).at(-1)).toBe(3);
      expect((await deadLetters.list()).length).toBeLessThan(3);
      await deadLetters.drop('changes/3/3');
      await deadLetters.add(deadLetter(4, 10));
      await deadLetters.add(deadLetter(5, 2_000));
      expect((await deadLetters.list()).map(({ offset }) => offset)).toEqual([5]);
      await deadLetters.drop('changes/3/5');
      for (let offset = 6; offset <= 8; offset++) await deadLetters.add(deadLetter(offset));
      expect((await deadLetters.list()).map(({ offset }) => offset)).toEqual([6, 7, 8]);
    });

    test('drops a dead letter by name', async () => {
      const deadLetters = await create();
      await deadLetters.add(deadLetter(1));
      await deadLetters.add(deadLetter(2));
      expect(await deadLetters.drop('changes/3/1')).toBe(true);
      expect(await deadLetters.drop('changes/3/1')).toBe(false);
      expect((await deadLetters.list()).map(({ name }) => name)).toEqual(['changes/3/2']);
    });
  });
}

function deadLetter(offset: number, padding = 0): NewDeadLetter {
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
