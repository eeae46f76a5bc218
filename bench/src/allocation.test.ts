import { expect, test } from 'vitest';
import { allocatedBytes } from './allocation.ts';

const megabyte = 1024 * 1024;

/** Allocates about this many bytes on the heap and keeps none of them. */
async function allocate(bytes: number): Promise<void> {
  // An array of doubles has 8 bytes per element.
  for (let i = 0; i < bytes / 8_000; i++) {
    new Array<number>(1_000).fill(0.5);
    if (i % 100 === 0) await undefined;
  }
}

test('counts what is allocated, across garbage collections', async () => {
  const bytes = await allocatedBytes(() => allocate(200 * megabyte));
  expect(bytes / megabyte).toBeGreaterThan(190);
  expect(bytes / megabyte).toBeLessThan(230);
});

test('counts next to nothing for work that allocates nothing', async () => {
  expect(await allocatedBytes(async () => {})).toBeLessThan(megabyte);
});
