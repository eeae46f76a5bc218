import { UsageError } from '@sluice/platform/process';

/** @throws UsageError */
export function count(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new UsageError(`--${option}: "${text}" is not a positive integer`);
  }
  return value;
}

/** @throws UsageError */
export function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new UsageError(`--${option}: "${text}" is not a positive number`);
  return value;
}

/** @throws UsageError */
export function share(option: string, text: string): number {
  const value = Number(text);
  if (text === '' || !(value >= 0 && value <= 1)) throw new UsageError(`--${option}: "${text}" is not between 0 and 1`);
  return value;
}

export function list(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim());
}

/** @throws UsageError */
export function oneOf<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new UsageError(`--${option}: "${text}" is none of ${choices.join(', ')}`);
  return found;
}
