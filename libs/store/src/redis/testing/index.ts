export { LeaseRenewer } from '../lease-renewer.ts';
export { LeaseThreadClient } from '../lease-thread.ts';
export { RenewalCells } from '../renewal-cells.ts';
export { groupKeys, Script } from '../script.ts';
/** A Redis server in this process that runs the production scripts, and the production adapters on it. */
export { Lua } from './lua.ts';
export { memoryClient } from './memory-client.ts';
export { type MemoryPortsOptions, memoryPorts } from './memory-ports.ts';
export { MemoryRedis, type RedisData } from './memory-redis.ts';
