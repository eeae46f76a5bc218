import { seededRandom, type VirtualClock } from '@sluice/platform';
import { Lua } from '@sluice/store/redis/testing';
import { JetStreamBusDouble } from './doubles/jetstream-bus.ts';
import { LossyBus } from './doubles/lossy-bus.ts';
import type { SimulatedBus } from './doubles/simulated-bus.ts';
import type { Scenario } from './scenario.ts';

/** What a run needs that is started asynchronously. */
export interface Servers {
  /** Undefined: the store is a model. */
  readonly lua: Lua | undefined;
  readonly log: SimulatedBus;
}

export async function startServers(scenario: Scenario, clock: VirtualClock): Promise<Servers> {
  const { seed, partitions, recordBytes, dropsRepeated, dropsReleased, bus, store, disabled } = scenario;
  // The scripts of Redis always fence.
  const onRedis = store === 'redis' && !disabled.includes('fencing');
  const limits = recordBytes === null ? undefined : { recordBytes, messageBytes: 1_000_000 };
  const replicas = bus === 'jetstream' ? 1 : 3;
  const random = seededRandom(seed + 6);
  const log =
    bus === 'model'
      ? new LossyBus(partitions, { dropsRepeated, dropsReleased }, limits)
      : await JetStreamBusDouble.start({ partitions, replicas, recordBytes, clock, random });
  for (const topic of ['changes', 'mutations', 'requests'] as const)
    for (let n = 0; n < partitions; n++)
      log.log(topic, n).startAt(scenario.firstOffset && scenario.firstOffset + 97 * n);
  return { lua: onRedis ? await loadedLua() : undefined, log };
}

let lua: Promise<Lua> | undefined;

/** Loads Lua for the first scenario on Redis. */
export function loadedLua(): Promise<Lua> {
  lua ??= Lua.load();
  return lua;
}
