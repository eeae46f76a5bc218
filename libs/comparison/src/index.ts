export * from './compare.ts';
export * from './explained.ts';
export * from './json.ts';
export * from './normalise.ts';
