export * from './find-service.ts';
export * from './print-explanation.ts';
export * from './print-history.ts';
export * from './print-parked.ts';
export * from './print-trace.ts';
export * from './print-traces.ts';
export * from './text.ts';
export * from './times.ts';
