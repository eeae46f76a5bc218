import { afterAll, beforeAll } from 'vitest';
import { busContract } from './bus-contract.ts';
import { busFaultsContract } from './bus-faults-contract.ts';
import { jetstreamWorld, type NatsForTests, natsForTests } from './jetstream-world.ts';

let server: NatsForTests;

beforeAll(async () => {
  server = await natsForTests();
});

afterAll(async () => {
  await server?.stop();
});

const features = { limited: true, dedupes: true, shared: true, faults: true };

busContract('JetStream', features, async (options) => jetstreamWorld(server.nats, options));
busFaultsContract('JetStream', async (options) => jetstreamWorld(server.nats, options));
