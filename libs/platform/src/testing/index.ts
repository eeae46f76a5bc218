export * from './advance.ts';
export * from './recording-logger.ts';
export * from './until.ts';
