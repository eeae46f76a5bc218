export * from './envelope.ts';
export * from './frame-splitter.ts';
export * from './text-table.ts';
export { MalformedProtobufError } from './wire-reader.ts';
