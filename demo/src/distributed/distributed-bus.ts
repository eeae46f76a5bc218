/** The bus of `sluice run --distributed`. */

export type DistributedBus = 'nats' | 'kafka';
