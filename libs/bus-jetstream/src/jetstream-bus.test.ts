import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { expect, test } from 'vitest';
import { MemoryNats, memoryJetStreamBus } from './testing/index.ts';

test('asks for the end of a log again if the connection is lost before the answer', async () => {
  const clock = new VirtualClock();
  const nats = new MemoryNats(clock);
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  const bus = await memoryJetStreamBus({ nats, partitions: 1 }, ports);
  const { request } = nats;
  nats.request = (...args) => {
    nats.request = request;
    nats.cutConnections();
    return request.apply(nats, args);
  };
  const end = bus.end('changes', 0);
  end.catch(() => {});
  await advance(clock, 1_000);
  expect(await Promise.race([end, 'no answer'])).toMatchObject({ offset: 0 });
  await bus.close();
});
