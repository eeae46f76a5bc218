export { type BusSetupCode, BusSetupError } from './errors.ts';
export { connectJetStreamBus } from './jetstream-bus.ts';
export {
  defaultJetStreamOptions,
  type JetStreamBusOptions,
  type JetStreamBusPorts,
  type NatsCredentials,
  type NatsSecrets,
} from './options.ts';
export { toDelivery } from './record-message.ts';
