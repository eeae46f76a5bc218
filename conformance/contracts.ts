/** The contracts that every adapter of a port runs. */
export { busContract } from './bus-contract.ts';
export type { BusFeatures, BusUnderTest, CreateBusUnderTest } from './bus-under-test.ts';
export { type LeasesUnderTest, leasesContract } from './leases-contract.ts';
export { storeContract } from './store-contract.ts';
