import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { listSemaphore } from './list-semaphore.ts';

async function queue(clusters: number, renewMs?: number) {
  const clock = new VirtualClock();
  const semaphore = listSemaphore(clock);
  let started = 0;
  for (let i = 0; i < clusters; i++) {
    void semaphore.acquire(new AbortController().signal).then((permit) => {
      started += 1;
      const renew = () => {
        permit.renew();
        if (renewMs !== undefined) clock.schedule(renewMs, renew);
      };
      renew();
    });
  }
  await advance(clock, 0);
  return { clock, started: () => started };
}

test('eight clusters are listed at once', async () => {
  const { started } = await queue(20);
  expect(started()).toBe(8);
});

test('a cluster whose API server sends nothing for two seconds delays no other', async () => {
  const { clock, started } = await queue(20);
  await advance(clock, 1_999);
  expect(started()).toBe(8);
  await advance(clock, 1);
  expect(started()).toBe(16);
});

test('a cluster that keeps sending delays no other for more than half a minute', async () => {
  const { clock, started } = await queue(9, 1_000);
  await advance(clock, 29_999);
  expect(started()).toBe(8);
  await advance(clock, 1);
  expect(started()).toBe(9);
});
