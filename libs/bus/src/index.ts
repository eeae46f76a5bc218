export * from './bus.ts';
export { chunkOf } from './chunk.ts';
export { ChunkAssembler } from './chunk-assembler.ts';
export { ChunkedBus } from './chunked-bus.ts';
export * from './log-bus.ts';
export * from './memory-bus.ts';
export * from './partition-log.ts';
export * from './read-until-aborted.ts';
export * from './setup-error.ts';
