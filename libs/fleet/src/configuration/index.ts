export * from './configuration.ts';
export { parseEndpoint } from './kinds.ts';
export * from './options/add-flags.ts';
export * from './options/leader-election-options.ts';
export { durationFlag, inRange, parseControllers } from './options/settings-options.ts';
export { type ConfigurationFlags, configVariable, type Environment } from './process-layers.ts';
export { defaultsOf } from './setting-paths.ts';
export { defaultTraceRatio } from './settings.ts';
