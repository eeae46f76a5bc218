import type { ChangeCost, SizeCost, UnitCosts } from './unit-costs.ts';

/** What a fleet has to serve. */
export interface Demand {
  readonly clusters: number;
  /** In all clusters together. */
  readonly services: number;
  /** In all clusters together. */
  readonly pods: number;
  /** Per second, in all clusters together. */
  readonly changes: number;
}

/** CPU in ms per second, memory in MB. */
export interface PartUsage {
  readonly cpu: number;
  readonly memory: number;
}

export interface Usage {
  /** Each of the workers. */
  readonly worker: PartUsage;
  readonly nats: PartUsage;
  readonly redis: PartUsage;
  /** kB per second. */
  readonly natsIn: number;
  readonly natsOut: number;
  /** Writes to API servers per second. */
  readonly writes: number;
  /** CPU seconds of all workers, NATS and Redis until everything is written. */
  readonly startCpuSeconds: number;
}

/** What a fleet of this many workers uses. They share clusters, Services, Pods and changes; each has a fixed cost, and heartbeats. */
export function usageOf({ clusters, services, pods, changes }: Demand, workers: number, costs: UnitCosts): Usage {
  const { worker, nats, redis } = costs;
  const endpoints = services === 0 ? 0 : pods / services;
  const perSecond = ({ fixed, perEndpoint }: ChangeCost) => changes * (fixed + perEndpoint * endpoints);
  const all: Size = { clusters, services, pods };
  const share: Size = { clusters: clusters / workers, services: services / workers, pods: pods / workers };
  const natsIn = perSecond(costs.natsIn);
  return {
    worker: {
      cpu: worker.idle.fixed + (worker.idle.perCluster * clusters + perSecond(worker.change)) / workers,
      memory: sum(worker.memory, share),
    },
    nats: {
      cpu: nats.idle.fixed + nats.idle.perCluster * clusters + perSecond(nats.change),
      memory: sum(nats.memory, all) + costs.natsMemoryPerTraffic * natsIn,
    },
    redis: {
      cpu: redis.idle.fixed * workers + redis.idle.perCluster * clusters + perSecond(redis.change),
      memory: sum(redis.memory, all),
    },
    natsIn,
    natsOut: perSecond(costs.natsOut),
    writes: costs.writes * changes,
    startCpuSeconds:
      ((workers - 1) * worker.start.fixed +
        [worker, nats, redis].reduce((total, { start }) => total + sum(start, all), 0)) /
      1_000,
  };
}

type Size = Pick<Demand, 'clusters' | 'services' | 'pods'>;

const sum = ({ fixed, perCluster, perService, perPod }: SizeCost, { clusters, services, pods }: Size): number =>
  fixed + perCluster * clusters + perService * services + perPod * pods;
