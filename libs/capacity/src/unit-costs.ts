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

/**
 * Measured with `npm run bench:capacity -- --costs measured` on 2 × AMD EPYC, shared by the fleet, the fake clusters and the load;
 * Node v24.21.0, while other programs used both cores. The memory of the smallest worker is the mean of two runs.
 */
export const unitCosts: UnitCosts = {
  worker: {
    start: { fixed: 2_310, perCluster: 105, perService: 3.79, perPod: 0 },
    idle: { fixed: 20.5, perCluster: 1.12 },
    change: { fixed: 5.71, perEndpoint: 0.0173 },
    memory: { fixed: 197, perCluster: 1.25, perService: 0.104, perPod: 0.0135 },
  },
  nats: {
    start: { fixed: 343, perCluster: 33.3, perService: 1.22, perPod: 0.0211 },
    idle: { fixed: 23.2, perCluster: 0.102 },
    change: { fixed: 1.61, perEndpoint: 0.00445 },
    memory: { fixed: 41.6, perCluster: 0, perService: 0.0272, perPod: 0 },
  },
  redis: {
    start: { fixed: 65.7, perCluster: 11.3, perService: 0.276, perPod: 0.00454 },
    idle: { fixed: 4.63, perCluster: 0.374 },
    change: { fixed: 0.439, perEndpoint: 0.00497 },
    memory: { fixed: 1.48, perCluster: 0.00286, perService: 0.00491, perPod: 0.00114 },
  },
  natsMemoryPerTraffic: 0.0388,
  natsIn: { fixed: 7.62, perEndpoint: 0.732 },
  natsOut: { fixed: 4.95, perEndpoint: 0.365 },
  writes: 1.93,
};
