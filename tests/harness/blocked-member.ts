/**
 * Usage: `node blocked-member.ts REDIS_URL FLEET TTL_MS BLOCK_MS END`. Acquires the only scope of a group, prints `held TOKEN`, blocks
 * its event loop for BLOCK_MS or until the file END exists, then prints whether `isCurrent` still returns true, before any other task
 * runs.
 */
import { existsSync } from 'node:fs';
import { startLeaseThread } from '@sluice/fleet/lease-thread';
import { Ownership } from '@sluice/fleet/ownership';
import { aborted, silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { openRedis } from '@sluice/store/redis';

const [url = '', fleet = '', ttlMs = '0', blockMs = '0', end = ''] = process.argv.slice(2);
const redis = await openRedis({ urls: [url], fleet }, { clock: systemClock, logger: silentLogger, startLeaseThread });
await new Ownership({
  ...{ leases: redis.leases, group: 'writer', member: `blocked-${process.pid}`, scopes: ['0'] },
  ...{ ttlMs: Number(ttlMs), heartbeatMs: 250, clock: systemClock, random: systemRandom, logger: silentLogger },
  work: async ({ fencingToken, signal, isCurrent, started }) => {
    started();
    process.stdout.write(`held ${fencingToken}\n`);
    if (Number(blockMs) > 0) {
      const cell = new Int32Array(new SharedArrayBuffer(4));
      const until = systemClock.monotonic() + Number(blockMs);
      while (systemClock.monotonic() < until && !existsSync(end)) Atomics.wait(cell, 0, 0, 10);
      process.stdout.write(`current ${isCurrent()}\n`);
    }
    await aborted(signal);
  },
}).run(new AbortController().signal);
