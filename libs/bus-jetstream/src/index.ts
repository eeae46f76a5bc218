export { type BusSetupCode, BusSetupError } from './errors.ts';
export { connectJetStreamBus } from './jetstream-bus.ts';
export type { JetStreamBusOptions, JetStreamBusPorts, NatsCredentials } from './options.ts';
