export { connectKafkaBus } from './kafka-bus.ts';
export {
  type BusSetupCode,
  BusSetupError,
  defaultKafkaTopics,
  type KafkaBusOptions,
  type KafkaConnection,
  type KafkaTopics,
} from './options.ts';
