import { join } from 'node:path';
import { streamStart } from '@sluice/bus';
import { startNats, startRedis } from '@sluice/local';
import { recordingLogger } from '@sluice/platform/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { ids, records, take } from './bus-records.ts';
import { connectBus } from './jetstream-fixture.ts';
import { Connections } from './redis-fixture.ts';
import { SmallDisk } from './small-disk.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function smallDisk(megabytes: number): SmallDisk {
  const disk = new SmallDisk(megabytes);
  endings.push(() => disk.remove());
  return disk;
}

describe.runIf(SmallDisk.possible)('a full disk', () => {
  test('of NATS: appends are retried with a warning; after a restart with more space nothing is lost or out of order', async () => {
    const disk = smallDisk(24);
    const nats = await startNats({ directory: join(disk.directory, 'nats') });
    endings.push(() => nats.stop());
    const log = recordingLogger();
    const bus = await connectBus({ servers: [nats.url], partitions: 1, fleet: 'full' }, log);
    endings.push(() => bus.close());
    const [calls, size] = [200, 10];
    const appending = (async () => {
      for (let call = 0; call < calls; call++) {
        await bus.append('changes', 0, records('a', call * size + 1, (call + 1) * size, 20_000));
      }
    })();
    await expect.poll(() => log.messages('warn')).toContain('publish failed; retrying');
    disk.grow(200);
    await nats.process.kill();
    await nats.process.start();
    await nats.ready();
    await appending;
    const read = await take(bus.read('changes', 0, streamStart), calls * size);
    expect([...new Set(ids(read))]).toEqual(ids(records('a', 1, calls * size)));
    expect(log.messages('info')).toContain('publish succeeded again');
  });

  test('of Redis: commits are rejected with the reason until there is space again', async () => {
    const disk = smallDisk(8);
    const server = await startRedis({ directory: join(disk.directory, 'redis') });
    endings.push(() => server.stop());
    const connections = new Connections({ urls: [server.url] });
    endings.push(() => connections.close());
    const { store } = await connections.open();
    await store.claim('reconciler/1', 1);
    let offset = 0;
    const commit = async () => {
      const entries = [{ key: 'c/ns/a', field: 'f', value: `${offset}`.padEnd(100_000) }];
      const checkpoint = { offset: offset + 1, id: `r${offset + 1}`, streamId: 'log' };
      await store.commit({ scope: 'reconciler/1', fencingToken: 1, expectedOffset: offset, checkpoint, entries });
      offset += 1;
    };
    const untilFull = async () => {
      for (;;) await commit();
    };
    await expect(untilFull()).rejects.toMatchObject({
      code: 'FULL',
      message: expect.stringContaining('free some space'),
    });
    disk.grow(200);
    // Redis notices at its next write to the file, once a second.
    await expect
      .poll(() =>
        commit().then(
          () => 'stored',
          () => 'refused',
        ),
      )
      .toBe('stored');
    expect((await store.claim('reconciler/1', 2)).checkpoint).toMatchObject({ offset });
  });
});
