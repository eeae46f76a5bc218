import { UsageError } from '@sluice/process';
import type { z } from 'zod';
import { nearest } from './nearest.ts';
import type { Visibility } from './settings.ts';

/** Collects all problems of a configuration, so that they are reported at once. */
export class Problems {
  readonly #texts: string[] = [];

  add(text: string): void {
    this.#texts.push(text);
  }

  get none(): boolean {
    return this.#texts.length === 0;
  }

  /** @throws UsageError if there are any */
  throwIfAny(): void {
    if (this.#texts.length === 0) return;
    const [first = '', ...others] = this.#texts;
    throw new UsageError(others.length === 0 ? first : ['invalid configuration:', ...this.#texts].join('\n  '));
  }
}

/** Prefix of a message about the value at a path. */
type At = (path: string) => string;

/** Describes a zod issue for the value at `path`, without values that may be secret. */
export function issueText(
  { at, path }: { readonly at: At; readonly path: string },
  issue: z.core.$ZodIssue,
  raw: unknown,
  known: readonly string[],
  visibility: Visibility,
): string {
  const inner = issue.path.reduce<string>(join, path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .map((key) => `${at(join(inner, key))} is not a known setting; ${instead(key, known)}`)
      .join('\n  ');
  }
  return `${at(inner)} is ${describe(dig(raw, issue.path), visibility)}; expected ${issue.message}`;
}

function join(path: string, key: PropertyKey): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? String(key) : `${path}.${String(key)}`;
}

function instead(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return meant === undefined ? `known settings: ${known.join(', ')}` : `did you mean ${meant}?`;
}

/**
 * Reads a nested value. A list may be one comma-separated string, unless it contains an @: then a comma may be part of
 * a password.
 */
export function dig(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value === 'string' && typeof key === 'number') {
      return value.includes('@') ? value : value.split(',')[key]?.trim();
    }
    return isMap(value) || Array.isArray(value) ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }, raw);
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes a value; only its type if it may be secret. */
function describe(value: unknown, visibility: Visibility): string {
  if (value === undefined || value === null || value === '') return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (value === '***') return '***, a masked secret';
  if (typeof value !== 'string') return visibility === 'hidden' ? `a ${typeof value}` : String(value);
  if (visibility === 'hidden' || (visibility === 'address' && !/^[a-z]+:\/\//.test(value))) return 'a string';
  if (value.includes('@')) return 'a string with an @ (not shown; it may contain credentials)';
  return value.length > 80 || value.includes('\n') ? 'a long string' : JSON.stringify(value);
}
