import type { Controller } from '@sluice/model';
import { aController } from '@sluice/service-state/testing';
import { describe, expect, test } from 'vitest';
import { dueAfterDecision, retryTime } from './queues.ts';

const now = 1_000_000;

function delays(controller: Controller): number[] {
  return Array.from({ length: 15 }, (_, failures) => {
    return (
      retryTime({
        controller,
        state: aController({ retries: { failures } }),
        now,
      }) - now
    );
  });
}

describe('upstream’s queues (B3, B4)', () => {
  test('Endpoints: doubles from 5 ms', () => {
    expect(delays('endpoints').slice(0, 3)).toEqual([5, 10, 20]);
    expect(delays('endpoints').at(-1)).toBe(81_920);
  });

  test('slices: doubles from 1 s up to 1000 s, mirrored slices up to 100 s', () => {
    expect(delays('endpointslice').slice(8)).toEqual([256, 512, 1000, 1000, 1000, 1000, 1000].map((s) => s * 1000));
    expect(delays('endpointslicemirroring').slice(5, 8)).toEqual([32_000, 64_000, 100_000]);
  });

  test('keeps an earlier time that is already queued, also after a decision (B2)', () => {
    const moment = {
      controller: 'endpointslice',
      state: aController({ retries: { failures: 5 }, timers: { delayedUntil: now + 700 } }),
      now,
    } as const;
    expect(retryTime(moment)).toBe(now + 700);
    expect(dueAfterDecision(moment)).toBe(now + 700);
    expect(dueAfterDecision({ ...moment, now: now + 700 })).toBeNull();
  });
});
