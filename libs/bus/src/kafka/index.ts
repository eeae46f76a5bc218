export { connectKafkaBus, KafkaBus } from './kafka-bus.ts';
export {
  type BusSetupCode,
  BusSetupError,
  defaultKafkaTopics,
  type KafkaBusOptions,
  type KafkaConnection,
  type KafkaSasl,
  type KafkaTopics,
} from './options.ts';
