export { connectJetStreamBus } from './jetstream-bus.ts';
export {
  BusSetupError,
  defaultJetStreamOptions,
  type JetStreamBusOptions,
  type JetStreamBusPorts,
  type NatsCredentials,
  type NatsSecrets,
} from './options.ts';
export { toDelivery } from './record-message.ts';
