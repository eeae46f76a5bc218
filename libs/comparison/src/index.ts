export * from './compare.ts';
export * from './explained.ts';
export * from './form.ts';
export * from './json.ts';
export * from './normalise.ts';
