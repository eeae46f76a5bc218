import { consoleUsage } from './console-usage.ts';
import { type UnitCosts, unitCosts } from './unit-costs.ts';
import { type Demand, type PartUsage, type Usage, usageOf } from './usage.ts';

export interface CapacityOptions extends Demand {
  readonly partitions: number;
  /** Copies of each stream: 1, or 3 for a NATS cluster. */
  readonly replicas: number;
  /** Services with a history in a console. */
  readonly maxServices: number;
}

/** Why a demand needs one more worker, or one more fleet. */
export type Limit =
  /** Event loop of a worker. */
  | 'worker CPU'
  | 'worker memory'
  /** Redis runs scripts on one core. */
  | 'Redis CPU'
  /** A worker without a partition has no decisions and no writes to do. */
  | 'partitions'
  /** Nothing: a second worker takes over from the first. */
  | 'availability';

export interface Capacity {
  /** Fleets that share the clusters evenly. */
  readonly fleets: number;
  /** Why one fleet is not enough; undefined if it is. */
  readonly fleetLimit: Limit | undefined;
  /** In each fleet, as everything below except totals. */
  readonly workers: number;
  readonly workerLimit: Limit;
  readonly usage: Usage;
  readonly console: PartUsage;
  /** MB of a worker while another one is down: what to request. */
  readonly workerMemory: number;
  /** MB of each NATS server after hours under load. */
  readonly natsMemory: number;
  /** MB that NATS reserves on the disks of all servers together. */
  readonly natsDiskReserved: number;
  /** MB that a day of records takes there, at most what is reserved. */
  readonly natsDiskUsed: number;
  /** MB for `maxmemory` of Redis. */
  readonly redisMaxMemory: number;
  /** Open watches on all API servers. */
  readonly watches: number;
  /** Requests per second to all API servers: writes and watches that are opened again. */
  readonly apiRequests: number;
  /** Seconds until a fleet that starts without any state has written everything. */
  readonly startSeconds: number;
}

/** Share of a core that an event loop may use, as for autoscaling. */
const targetUtilisation = 0.6;
const targetCpu = targetUtilisation * 1_000;
/** MB: the heap of Node ends at about 4 GB, and a larger one has longer pauses. */
const maxWorkerMemory = 2_000;
/** Resources that a cluster is watched for, and how often each watch is opened again, in seconds. */
const [watchesPerCluster, watchSeconds] = [5, 450];
/** MB that streams reserve: two per partition, and one for requests. */
const [partitionMb, requestsMb] = [2 * 67.1, 16.8];
const daySeconds = 86_400;
/**
 * MB that a NATS server keeps of a stream that gets a record at least every 10 s: the last block, up to 8 MiB, in a larger buffer,
 * and garbage. 64 streams of 30 MB each took 1,440 MB.
 */
const [blockMb, blockSeconds] = [22, 10];
/** More than any fleet can have. */
const maxWorkers = 4_096;

/** How large a deployment for this demand is. */
export function capacityOf(options: CapacityOptions, costs: UnitCosts = unitCosts): Capacity {
  const { partitions, replicas, maxServices } = options;
  let fleetLimit: Limit | undefined;
  for (let fleets = 1; ; fleets++) {
    const demand = shareOf(options, fleets);
    const found = workersFor(demand, partitions, costs);
    if ('fleetLimit' in found) {
      fleetLimit ??= found.fleetLimit;
      // A fleet of one cluster cannot be divided.
      if (fleets < options.clusters) continue;
    }
    const { workers, workerLimit } =
      'fleetLimit' in found ? { workers: partitions, workerLimit: found.fleetLimit } : found;
    const usage = usageOf(demand, workers, costs);
    const natsDiskReserved = (partitionMb * partitions + requestsMb) * replicas;
    return {
      fleets,
      fleetLimit,
      workers,
      workerLimit,
      usage,
      console: consoleUsage(demand, maxServices),
      natsDiskReserved,
      workerMemory: usageOf(demand, Math.max(1, workers - 1), costs).worker.memory,
      natsMemory: natsMemory(demand, partitions, costs),
      natsDiskUsed: Math.min(natsDiskReserved, (usage.natsIn / 1_000) * daySeconds * replicas),
      redisMaxMemory: 2 * usage.redis.memory,
      watches: watchesPerCluster * options.clusters,
      apiRequests: usage.writes * fleets + (watchesPerCluster * options.clusters) / watchSeconds,
      startSeconds: usage.startCpuSeconds / workers,
    };
  }
}

function shareOf({ clusters, services, pods, changes }: Demand, fleets: number): Demand {
  return {
    clusters: Math.ceil(clusters / fleets),
    services: services / fleets,
    pods: pods / fleets,
    changes: changes / fleets,
  };
}

/** Records fill the last blocks of all streams in the long run, if each stream gets them often enough. */
function natsMemory(demand: Demand, partitions: number, costs: UnitCosts): number {
  const idle = usageOf({ ...demand, changes: 0 }, 1, costs).nats.memory;
  const areKept = demand.changes * blockSeconds >= partitions;
  return idle + (areKept ? 2 * partitions * blockMb : 0);
}

/** The smallest number of workers that one fleet needs, or why no number suffices. */
function workersFor(
  demand: Demand,
  partitions: number,
  costs: UnitCosts,
): { readonly workers: number; readonly workerLimit: Limit } | { readonly fleetLimit: Limit } {
  let workerLimit: Limit = 'availability';
  for (let workers = 2; workers <= Math.min(partitions, maxWorkers); workers++) {
    const { worker, redis } = usageOf(demand, workers, costs);
    if (redis.cpu > targetCpu) return { fleetLimit: 'Redis CPU' };
    if (worker.cpu > targetCpu) workerLimit = 'worker CPU';
    else if (usageOf(demand, workers - 1, costs).worker.memory > maxWorkerMemory) workerLimit = 'worker memory';
    else return { workers, workerLimit };
  }
  return { fleetLimit: 'partitions' };
}
