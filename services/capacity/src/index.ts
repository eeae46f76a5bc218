export * from './capacity.ts';
export * from './unit-costs.ts';
export * from './usage.ts';
