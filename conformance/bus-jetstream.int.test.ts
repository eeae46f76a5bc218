import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { busContract } from './bus-contract.ts';
import { busFaultsContract } from './bus-faults-contract.ts';
import { jetstreamUnderTest, type NatsFixture, startNatsFixture } from './jetstream-fixture.ts';
import { jetstreamProtocolContract } from './jetstream-protocol-contract.ts';

let server: NatsFixture;

beforeAll(async () => {
  server = await startNatsFixture();
});

afterAll(async () => {
  await server?.stop();
});

const features = { limited: true, countsHeaders: true, dedupes: true, shared: true, faults: true };

busContract('JetStream', features, async (options) => jetstreamUnderTest(server.nats, options));
busFaultsContract('JetStream', async (options) => jetstreamUnderTest(server.nats, options));
jetstreamProtocolContract('nats-server', () => connect({ servers: server.nats.url }));
