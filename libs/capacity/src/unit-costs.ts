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
 * Measured with `npm run bench:capacity -- --costs measured` on 2 × Intel Xeon, shared by the fleet, the fake clusters and the load;
 * Node v24.21.0. Means of two runs with 50 and 150 clusters; the memory of the worker is that of the second.
 */
export const unitCosts: UnitCosts = {
  worker: {
    start: { fixed: 665, perCluster: 25.7, perService: 1.88, perPod: 0.103 },
    idle: { fixed: 36.5, perCluster: 0.327 },
    change: { fixed: 3.01, perEndpoint: 0.0216 },
    memory: { fixed: 157, perCluster: 0.47, perService: 0.0814, perPod: 0.016 },
  },
  nats: {
    start: { fixed: 190, perCluster: 2.34, perService: 0.23, perPod: 0.0093 },
    idle: { fixed: 13.7, perCluster: 0.0297 },
    change: { fixed: 0.333, perEndpoint: 0.00228 },
    memory: { fixed: 37.9, perCluster: 0, perService: 0.0251, perPod: 0 },
  },
  redis: {
    start: { fixed: 27.5, perCluster: 1.09, perService: 0.0961, perPod: 0.00968 },
    idle: { fixed: 5.61, perCluster: 0.0126 },
    change: { fixed: 0.453, perEndpoint: 0.00277 },
    memory: { fixed: 1.5, perCluster: 0.00163, perService: 0.00488, perPod: 0.00113 },
  },
  natsMemoryPerTraffic: 0.0416,
  natsIn: { fixed: 7.79, perEndpoint: 0.798 },
  natsOut: { fixed: 5.14, perEndpoint: 0.399 },
  writes: 2,
};
