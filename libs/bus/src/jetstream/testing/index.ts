/** A NATS server in this process, and the production adapter on it. */
export { memoryConnection, memoryJetStreamBus } from './memory-connection.ts';
export { MemoryNats } from './memory-nats.ts';
