export { type BusSetupCode, BusSetupError } from './errors.ts';
export { connectKafkaBus, KafkaBus } from './kafka-bus.ts';
export {
  defaultKafkaTopics,
  type KafkaBusOptions,
  type KafkaConnection,
  type KafkaSasl,
  type KafkaTopics,
} from './options.ts';
