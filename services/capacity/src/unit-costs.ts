/** A cost as a sum: a fixed part and one per cluster, Service and Pod. */
export interface SizeCost {
  readonly fixed: number;
  readonly perCluster: number;
  readonly perService: number;
  readonly perPod: number;
}

/** A cost of one change: a Pod becomes ready or not ready. Its Service is read and written with all of its endpoints. */
export interface ChangeCost {
  readonly fixed: number;
  readonly perEndpoint: number;
}

/** What a part of a fleet costs. CPU in milliseconds, memory in MB (10⁶ bytes). */
export interface PartCosts {
  /** CPU until everything is written, from an empty store and empty clusters. */
  readonly start: SizeCost;
  /** CPU per second without changes. */
  readonly idle: Omit<SizeCost, 'perService' | 'perPod'>;
  readonly change: ChangeCost;
  readonly memory: SizeCost;
}

export interface UnitCosts {
  readonly worker: PartCosts;
  readonly nats: PartCosts;
  readonly redis: PartCosts;
  /** kB per change that NATS receives and sends. */
  readonly natsIn: ChangeCost;
  readonly natsOut: ChangeCost;
  /** MB of memory of NATS per kB that it receives each second: it caches the ends of streams. */
  readonly natsMemoryPerTraffic: number;
  /** Writes to the API server per change. */
  readonly writes: number;
}

/** A console, without what it takes to read the bus. CPU in milliseconds, memory in MB. */
export interface ConsoleCosts {
  /** CPU per change: it is joined with the other clusters, and kept. */
  readonly change: number;
  readonly memory: {
    readonly fixed: number;
    /** Per Service and cluster. */
    readonly perService: number;
    /** Per Service with a history that was read. */
    readonly perHistory: number;
  };
}

/**
 * Measured on 2 × AMD EPYC beside other work, Node v24.21.0: memory as peaks of `npm run bench:logical-services -- --clusters 100`, without and
 * with `--history`; CPU with `--clusters 30 --history --rate 50`. At higher rates, a change costs less.
 */
export const consoleCosts: ConsoleCosts = {
  change: 0.15,
  memory: { fixed: 114, perService: 0.0035, perHistory: 0.0205 },
};

/**
 * Measured with `npm run bench:capacity -- --costs measured` on 2 × AMD EPYC, shared by the fleet, the fake clusters and the load;
 * Node v24.21.0. Means of two runs.
 */
export const unitCosts: UnitCosts = {
  worker: {
    start: { fixed: 997, perCluster: 14.6, perService: 1.1, perPod: 0.045 },
    idle: { fixed: 11.6, perCluster: 0.289 },
    change: { fixed: 2.55, perEndpoint: 0.0164 },
    memory: { fixed: 219, perCluster: 0.304, perService: 0.076, perPod: 0.00633 },
  },
  nats: {
    start: { fixed: 160, perCluster: 2.98, perService: 0.142, perPod: 0.00346 },
    idle: { fixed: 8.1, perCluster: 0.0252 },
    change: { fixed: 0.281, perEndpoint: 0.00122 },
    memory: { fixed: 37.3, perCluster: 0, perService: 0.0223, perPod: 0 },
  },
  redis: {
    start: { fixed: 23.1, perCluster: 0.891, perService: 0.0585, perPod: 0.00874 },
    idle: { fixed: 3.12, perCluster: 0.00839 },
    change: { fixed: 0.357, perEndpoint: 0.00368 },
    memory: { fixed: 1.49, perCluster: 0.00137, perService: 0.00484, perPod: 0.00113 },
  },
  natsMemoryPerTraffic: 0.0427,
  natsIn: { fixed: 7.79, perEndpoint: 0.799 },
  natsOut: { fixed: 5.16, perEndpoint: 0.4 },
  writes: 2,
};
