import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, streamStart } from '@sluice/bus';
import { freePorts, type Nats, startNats } from '@sluice/local';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ids, records, take } from './bus-records.ts';
import { asOperator, connectBus } from './jetstream-fixture.ts';

/**
 * Three servers with three replicas of each stream, as in production: appends take another path, and leaders change.
 */

const root = mkdtempSync(join(tmpdir(), 'sluice-nats-cluster-'));
let servers: readonly Nats[] = [];
let fleets = 0;

beforeAll(async () => {
  const ports = await freePorts(3);
  const routes = ports.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  servers = await Promise.all(
    ports.map((port, index) =>
      startNats({
        directory: join(root, `n${index}`),
        name: `n${index}`,
        configuration: `cluster { name: local, listen: "127.0.0.1:${port}", routes: [${routes}] }`,
      }),
    ),
  );
});

afterAll(async () => {
  for (const server of servers) await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const open = (fleet: string): Promise<Bus> =>
  connectBus({ servers: servers.map(({ url }) => url), partitions: 1, replicas: 3, fleet });

test('several publishers keep their order, and repeated records are stored once', async () => {
  const fleet = `fleet-${++fleets}`;
  const buses = await Promise.all([open(fleet), open(fleet)]);
  await Promise.all(
    buses.map(async (bus, publisher) => {
      for (let call = 0; call < 10; call++) {
        await bus.append('changes', 0, records(`p${publisher}-`, call * 20 + 1, call * 20 + 20));
      }
    }),
  );
  // Already stored completely, partly and not at all.
  for (const [from, to] of [
    [191, 200],
    [196, 205],
    [206, 206],
  ] as const) {
    await buses[0]?.append('changes', 0, records('p0-', from, to));
  }
  const reader = (await open(fleet)).read('changes', 0, streamStart);
  const read = ids(await take(reader, 406));
  expect(read.filter((id) => id.startsWith('p0-'))).toEqual(ids(records('p0-', 1, 206)));
  expect(read.filter((id) => id.startsWith('p1-'))).toEqual(ids(records('p1-', 1, 200)));
  for (const bus of buses) {
    expect((await bus.end('changes', 0)).offset).toBe(406);
    await bus.close();
  }
});

test('killing the leader of a stream loses nothing and keeps the order', async () => {
  const fleet = `fleet-${++fleets}`;
  const bus = await open(fleet);
  const name = `${fleet}-changes-0`;
  const reading = take(bus.read('changes', 0, streamStart), 400);
  for (let call = 0; call < 40; call++) {
    if (call === 20) await killLeader(name);
    await bus.append('changes', 0, records('a', call * 10 + 1, call * 10 + 10));
  }
  expect(ids(await reading)).toEqual(ids(records('a', 1, 400)));
  await bus.close();
});

/** Kills the leader and starts it again without waiting until it has caught up. */
async function killLeader(stream: string): Promise<void> {
  const leader = await asOperator(servers.map(({ url }) => url).join(','), async (jsm) => {
    const { cluster } = await jsm.streams.info(stream);
    return servers[Number(cluster?.leader?.slice(1))];
  });
  if (leader === undefined) throw new Error(`stream ${stream} has no leader`);
  await leader.process.kill();
  await leader.process.start();
}
