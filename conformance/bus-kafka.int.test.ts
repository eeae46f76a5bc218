import { afterAll, beforeAll } from 'vitest';
import { busContract } from './bus-contract.ts';
import { busFaultsContract } from './bus-faults-contract.ts';
import type { CreateBusWorld } from './bus-world.ts';
import { KafkaWorlds } from './kafka-world.ts';

let worlds: KafkaWorlds;
beforeAll(async () => {
  worlds = await KafkaWorlds.start();
});
afterAll(() => worlds.stop());

const create: CreateBusWorld = (options) => worlds.create(options);

busContract('kafka', { limited: true, shared: true, faults: true }, create);
busFaultsContract('kafka', create);
