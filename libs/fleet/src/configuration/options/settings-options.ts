import { controllers, descriptorOf } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { parseDuration } from '@sluice/platform/process';
import { InvalidArgumentError } from 'commander';

const flagOf = (controller: Controller): string => descriptorOf(controller).flags[0];

export type Controllers = ReadonlySet<Controller>;

/** The controllers as a value of `--controllers`; `*` for all. */
export function controllerList(enabled: Controllers): string {
  const flags = controllers.filter((controller) => enabled.has(controller)).map(flagOf);
  if (flags.length === controllers.length) return '*';
  // An empty list would mean all controllers.
  return flags.length === 0 ? controllers.map((one) => `-${flagOf(one)}`).join(',') : flags.join(',');
}

/**
 * Parses a value of `--controllers`.
 *
 * @throws InvalidArgumentError with the unknown name
 */
export function parseControllers(list: string): Controllers {
  const words = list.split(',').map((word) => word.trim());
  const chosen = new Set<Controller>(words.includes('*') || words.every((w) => w.startsWith('-')) ? controllers : []);
  // If a controller is listed several times, the first entry wins, as in kube-controller-manager.
  for (const word of words.toReversed()) {
    if (word === '*') continue;
    const name = word.replace(/^-/, '');
    const controller = controllers.find((one) => descriptorOf(one).flags.includes(name));
    if (controller === undefined) {
      const known = controllers.map(flagOf).join(', ');
      throw new InvalidArgumentError(`"${word}" is not in the list of known controllers: ${known}`);
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
