export * from './resolve.ts';
export * from './settings-table.ts';
