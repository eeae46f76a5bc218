// Loads the schemas of all settings: import it on demand where the start time counts.
export * from '../example.ts';
export * from '../load-configuration.ts';
export * from '../print.ts';
