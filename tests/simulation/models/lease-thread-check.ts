import { type Random, randomInteger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { LeaseRenewer, RenewalCells } from '@sluice/store/redis/testing';
import { chance, holds, type ModelCheck } from './model-check.ts';

const times = { ttlMs: 900, periodMs: 250, maxSilenceMs: 5_000 };

/** While the event loop is blocked, a thread renews the leases. It never believes them longer than the store keeps them. */
export const leaseThreadCheck: ModelCheck = {
  invariant: 'a renewed lease is valid',
  async run(random) {
    const clock = new VirtualClock(1_000);
    const cells = new RenewalCells();
    let keptUntil = clock.monotonic() + times.ttlMs;
    let renewals = 0;
    const renewer = new LeaseRenewer({
      renew: async () => {
        const slow = chance(random, 0.3);
        renewals += 1;
        await sleep(clock, delayMs(random, slow));
        const isKept = clock.monotonic() < keptUntil;
        if (isKept) keptUntil = clock.monotonic() + times.ttlMs;
        await sleep(clock, delayMs(random, slow));
        if (chance(random, 0.1)) throw new Error('no answer');
        return isKept;
      },
      clock,
      log: () => {},
    });
    const options = { group: 'writer', member: 'a', ...times };
    renewer.handle({ kind: 'start', id: 1, options, cells: cells.buffer });
    renewer.handle({ kind: 'hold', id: 1, leases: [['0', 1]] });
    for (let n = 0; n < 6; n++) {
      // The main thread renews for a while, and is then blocked.
      for (let beats = randomInteger(random, 1, 6); beats > 0; beats--) {
        cells.heartbeatAt = clock.monotonic();
        keptUntil = Math.max(keptUntil, clock.monotonic() + times.ttlMs);
        const before = renewals;
        await advance(clock, randomInteger(random, 200, 260));
        holds('the thread renews while the main thread does', renewals - before <= 1);
      }
      const blockedMs = randomInteger(random, 100, 12_000);
      const blockedAt = cells.heartbeatAt;
      for (let at = 0; at < blockedMs; at += 50) {
        await advance(clock, 50);
        const believedUntil = cells.renewedAt + times.ttlMs;
        if (cells.renewedAt > blockedAt)
          holds(`leases are believed until ${believedUntil} and kept until ${keptUntil}`, believedUntil <= keptUntil);
        const isSilent = cells.renewedAt > blockedAt + times.maxSilenceMs + times.ttlMs;
        holds('leases of a thread that is blocked for long are renewed', !isSilent);
      }
    }
    renewer.handle({ kind: 'stop', id: 1 });
    await advance(clock, 10_000);
    const stopped = renewals;
    await advance(clock, 10_000);
    holds('leases are renewed after the stop', renewals === stopped);
  },
};

const delayMs = (random: Random, slow: boolean): number => randomInteger(random, 1, slow ? 400 : 20);
