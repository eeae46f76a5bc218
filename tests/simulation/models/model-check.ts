import { isDeepStrictEqual } from 'node:util';
import { type Random, randomInteger } from '@sluice/platform';

/**
 * Calls a part of the production code at random and compares each answer with a model: for parts whose mistakes a fleet repairs, or
 * that it seldom runs.
 */
export interface ModelCheck {
  /** What is checked: `the store keeps what was committed`. */
  readonly invariant: string;
  /** @throws WrongAnswer */
  run(random: Random): Promise<void> | void;
}

/** Production code does not do what the model does. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

/** @throws WrongAnswer */
export function same(what: string, found: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new WrongAnswer(`${what}: ${text(found)} instead of ${text(wanted)}`);
}

/** @throws WrongAnswer */
export function holds(what: string, isTrue: boolean): void {
  if (!isTrue) throw new WrongAnswer(what);
}

const text = (value: unknown): string => {
  const shown = value instanceof Map || value instanceof Set ? [...value] : value;
  return (JSON.stringify(shown) ?? 'undefined').slice(0, 300);
};

export function pick<T>(random: Random, from: readonly T[]): T {
  if (from.length === 0) throw new RangeError('cannot pick from an empty list');
  return from[Math.floor(random.next() * from.length)] as T;
}

export const chance = (random: Random, probability: number): boolean => random.next() < probability;

/** Each element with the given probability. */
export const some = <T>(random: Random, from: readonly T[], probability = 0.5): T[] =>
  from.filter(() => chance(random, probability));

/** In any order. */
export function shuffled<T>(random: Random, from: readonly T[]): T[] {
  const all = [...from];
  for (let i = all.length - 1; i > 0; i--) {
    const j = randomInteger(random, 0, i);
    [all[i], all[j]] = [all[j] as T, all[i] as T];
  }
  return all;
}
