import { afterAll, beforeAll } from 'vitest';
import { busContract } from './bus-contract.ts';
import { busFaultsContract } from './bus-faults-contract.ts';
import type { CreateBusUnderTest } from './bus-under-test.ts';
import { KafkaFixture } from './kafka-fixture.ts';

let fixture: KafkaFixture;
beforeAll(async () => {
  fixture = await KafkaFixture.start();
});
afterAll(() => fixture.stop());

const create: CreateBusUnderTest = (options) => fixture.create(options);

busContract('kafka', { limited: true, countsHeaders: true, shared: true, faults: true }, create);
busFaultsContract('kafka', create);
