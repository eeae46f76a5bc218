/** The buses of `sluice run --distributed`. */
export const distributedBuses = ['nats', 'kafka'] as const;

export type DistributedBus = (typeof distributedBuses)[number];
