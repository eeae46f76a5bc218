import { MemoryBus } from '@sluice/bus';
import { MemoryStore } from '@sluice/store';
import { busContract } from './bus-contract.ts';
import { storeContract } from './store-contract.ts';

const maxBacklog = 20;

busContract('memory', { maxBacklog }, async () => new MemoryBus({ partitions: 4, maxBacklog }));
storeContract('memory', async () => new MemoryStore());
