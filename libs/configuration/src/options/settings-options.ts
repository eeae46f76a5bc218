import type { Controller } from '@sluice/controllers';
import { parseDuration } from '@sluice/process';
import { defaultSettings } from '@sluice/service-state';
import { InvalidArgumentError } from 'commander';

/** Controllers by their names in kube-controller-manager, with aliases (A2). */
const controllerNames: Readonly<Record<string, Controller>> = {
  'endpoints-controller': 'endpoints',
  endpoint: 'endpoints',
  'endpointslice-controller': 'endpointslice',
  endpointslice: 'endpointslice',
  'endpointslice-mirroring-controller': 'endpointslicemirroring',
  endpointslicemirroring: 'endpointslicemirroring',
};

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

/** @throws InvalidArgumentError */
export function durationFlag(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError(`"${text}" is not a duration; expected for example 20s, 1m30s or 500ms`);
  return ms;
}
