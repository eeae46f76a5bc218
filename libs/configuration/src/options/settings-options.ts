import type { Controller } from '@sluice/controllers';
import { parseDuration } from '@sluice/process';
import { defaultSettings, maxFreshnessTargetMs, type Settings } from '@sluice/service-state';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Controllers by their names in kube-controller-manager, with aliases (A2). */
const controllerNames: Readonly<Record<string, Controller>> = {
  'endpoints-controller': 'endpoints',
  endpoint: 'endpoints',
  'endpointslice-controller': 'endpointslice',
  endpointslice: 'endpointslice',
  'endpointslice-mirroring-controller': 'endpointslicemirroring',
  endpointslicemirroring: 'endpointslicemirroring',
};

export interface SettingsOptions {
  readonly controllers: Controllers;
  readonly maxEndpointsPerSlice: number;
  readonly mirroringMaxEndpointsPerSubset: number;
  readonly endpointUpdatesBatchPeriod: number;
  readonly endpointsliceUpdatesBatchPeriod: number;
  readonly mirroringEndpointsliceUpdatesBatchPeriod: number;
  /** In milliseconds; 0: changes are not batched adaptively. */
  readonly freshnessTarget: number;
  readonly sliceWatchers: number;
  /** Writes per hour and cluster that compaction may cause; 0: no background compaction. */
  readonly compactionWritesPerHour: number;
}

/** Adds kube-controller-manager's flags for the three controllers, with its defaults and ranges (A5). */
export function addSettingsOptions(command: Command): Command {
  return command
    .optionsGroup('Controllers:')
    .addOption(
      new Option('--controllers <list>', "controllers to run: '*' for all, 'foo' for one, '-foo' for all but one")
        .argParser(parseControllers)
        .default(defaultSettings.controllers, "'*'"),
    )
    .option(
      '--max-endpoints-per-slice <n>',
      'maximum endpoints per EndpointSlice, 1–1000',
      inRange('--max-endpoints-per-slice', 1, 1000),
      defaultSettings.maxEndpointsPerSlice,
    )
    .option(
      '--mirroring-max-endpoints-per-subset <n>',
      'maximum addresses mirrored per Endpoints subset, 1–1000',
      inRange('--mirroring-max-endpoints-per-subset', 1, 1000),
      defaultSettings.maxEndpointsPerSubset,
    )
    .option(
      '--endpoint-updates-batch-period <duration>',
      'time to batch Pod changes before updating Endpoints',
      durationFlag,
      0,
    )
    .option(
      '--endpointslice-updates-batch-period <duration>',
      'time to batch Pod changes before updating EndpointSlices',
      durationFlag,
      0,
    )
    .option(
      '--mirroring-endpointslice-updates-batch-period <duration>',
      'time to wait before repairing mirrored EndpointSlices',
      durationFlag,
      0,
    )
    .option(
      '--freshness-target <duration>',
      'batch changes of busy Services as long as no endpoint is written later than this, up to 10s; 0 disables',
      freshnessTarget,
      0,
    )
    .option(
      '--slice-watchers <n>',
      'clients that watch EndpointSlices, about the number of Nodes; for --freshness-target and the metric of\nwatch traffic',
      inRange('--slice-watchers', 1, 1_000_000),
      defaultSettings.sliceWatchers,
    )
    .option(
      '--compaction-writes-per-hour <n>',
      'merge partly empty EndpointSlices in the background with at most this many writes per cluster; 0 disables',
      inRange('--compaction-writes-per-hour', 0, 1_000_000),
      0,
    );
}

export function toSettings(options: SettingsOptions): Settings {
  const { freshnessTarget: freshnessTargetMs } = options;
  return {
    ...defaultSettings,
    controllers: options.controllers,
    maxEndpointsPerSlice: options.maxEndpointsPerSlice,
    maxEndpointsPerSubset: options.mirroringMaxEndpointsPerSubset,
    batching: freshnessTargetMs > 0 ? { freshnessTargetMs, watchers: options.sliceWatchers } : null,
    sliceWatchers: options.sliceWatchers,
    batchPeriodMs: {
      endpoints: options.endpointUpdatesBatchPeriod,
      endpointslice: options.endpointsliceUpdatesBatchPeriod,
      endpointslicemirroring: options.mirroringEndpointsliceUpdatesBatchPeriod,
    },
  };
}

/** What watchers need to compact slices in the background; undefined: nothing to do. */
export function toCompaction({
  compactionWritesPerHour: writesPerHour,
  maxEndpointsPerSlice,
  controllers,
}: SettingsOptions): { readonly writesPerHour: number; readonly maxEndpointsPerSlice: number } | undefined {
  return writesPerHour > 0 && controllers.has('endpointslice') ? { writesPerHour, maxEndpointsPerSlice } : undefined;
}

export type Controllers = ReadonlySet<Controller>;

/** The controllers as a value of `--controllers`; `*` for all. */
export function controllerList(controllers: Controllers): string {
  const known = Object.entries(controllerNames).filter(([name]) => name.endsWith('-controller'));
  const enabled = known.filter(([, controller]) => controllers.has(controller)).map(([name]) => name);
  if (enabled.length === known.length) return '*';
  // An empty list would mean all controllers.
  return enabled.length === 0 ? known.map(([name]) => `-${name}`).join(',') : enabled.join(',');
}

/**
 * Parses a value of `--controllers`.
 *
 * @throws InvalidArgumentError with the unknown name
 */
export function parseControllers(list: string): Controllers {
  const words = list.split(',').map((word) => word.trim());
  const chosen = new Set<Controller>(
    words.includes('*') || words.every((w) => w.startsWith('-')) ? defaultSettings.controllers : [],
  );
  // If a controller is listed several times, the first entry wins, as in kube-controller-manager.
  for (const word of words.toReversed()) {
    if (word === '*') continue;
    const controller = controllerNames[word.replace(/^-/, '')];
    if (controller === undefined) {
      const known = Object.keys(controllerNames).filter((name) => name.endsWith('-controller'));
      throw new InvalidArgumentError(`"${word}" is not in the list of known controllers: ${known.join(', ')}`);
    }
    if (word.startsWith('-')) chosen.delete(controller);
    else chosen.add(controller);
  }
  return chosen;
}

/** Parser for an integer flag, with kube-controller-manager's error messages (A5). */
export function inRange(flag: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const n = Number(text);
    if (!Number.isInteger(n)) throw new InvalidArgumentError(`"${text}" is not an integer`);
    const name = flag.replace(/^--/, '');
    if (n < min) throw new InvalidArgumentError(`${name} must not be less than ${min}, but got ${n}`);
    if (n > max) throw new InvalidArgumentError(`${name} must not be more than ${max}, but got ${n}`);
    return n;
  };
}

function freshnessTarget(text: string): number {
  const ms = durationFlag(text);
  if (ms > maxFreshnessTargetMs) throw new InvalidArgumentError(`"${text}" is more than 10s`);
  return ms;
}

export function durationFlag(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError(`"${text}" is not a duration; expected for example 20s, 1m30s or 500ms`);
  return ms;
}
