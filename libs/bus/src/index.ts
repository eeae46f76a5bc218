export * from './bus.ts';
export { ByReferenceBus } from './by-reference-bus.ts';
export { ChunkAssembler, chunkOf } from './chunks.ts';
export * from './forwarding-bus.ts';
export { LocalDeliveryBus } from './local-delivery-bus.ts';
export * from './log-bus.ts';
export * from './memory-bus.ts';
export { NetworkedBus } from './networked-bus.ts';
export * from './records.ts';
