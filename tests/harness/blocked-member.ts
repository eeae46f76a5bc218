/**
 * Usage: `node blocked-member.ts REDIS_URL FLEET TTL_MS BLOCK_MS`. Acquires the only scope of a group, prints `held TOKEN`, blocks
 * its event loop for BLOCK_MS, then prints whether `isCurrent` still returns true, before any other task runs.
 */
import { startLeaseThread } from '@sluice/backends/lease-thread';
import { Ownership } from '@sluice/ownership';
import { systemClock, systemRandom } from '@sluice/process';
import { aborted, silentLogger } from '@sluice/runtime';
import { openRedis } from '@sluice/store-redis';

const [url = '', fleet = '', ttlMs = '0', blockMs = '0'] = process.argv.slice(2);
const redis = await openRedis({ urls: [url], fleet }, { clock: systemClock, logger: silentLogger, startLeaseThread });
await new Ownership({
  ...{ leases: redis.leases, group: 'writer', member: `blocked-${process.pid}`, scopes: ['0'] },
  ...{ ttlMs: Number(ttlMs), heartbeatMs: 250, clock: systemClock, random: systemRandom, logger: silentLogger },
  work: async ({ fencingToken, signal, isCurrent, started }) => {
    started();
    process.stdout.write(`held ${fencingToken}\n`);
    if (Number(blockMs) > 0) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blockMs));
      process.stdout.write(`current ${isCurrent()}\n`);
    }
    await aborted(signal);
  },
}).run(new AbortController().signal);
