/** A NATS server in this process, and the production adapter on it. */
export { memoryJetStreamBus } from './memory-bus.ts';
export { memoryConnection } from './memory-connection.ts';
export { MemoryNats } from './memory-nats.ts';
