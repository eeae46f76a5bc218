// Loads the YAML parser: import it on demand where the start time counts.
export * from '../load-configuration.ts';
export * from '../print.ts';
