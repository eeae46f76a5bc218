import type { z } from 'zod';
import { UsageError } from '../usage-error.ts';
import { nearest } from './nearest.ts';

/** All that is wrong with a configuration, so that one look at it is enough. */
export class Problems {
  readonly #texts: string[] = [];

  add(text: string): void {
    this.#texts.push(text);
  }

  /** @throws UsageError if there are any */
  throwIfAny(): void {
    if (this.#texts.length === 0) return;
    const [first = '', ...others] = this.#texts;
    throw new UsageError(
      others.length === 0 ? first : ['the configuration cannot be used:', ...this.#texts].join('\n  '),
    );
  }
}

/** One of zod's issues, told without any value that may be a secret. */
export function issueText(at: string, issue: z.core.$ZodIssue, raw: unknown, known: readonly string[], hide: boolean) {
  const path = issue.path.reduce<string>((all, key) => {
    if (typeof key === 'number') return `${all}[${key}]`;
    return all === '' || all.endsWith(': ') ? `${all}${String(key)}` : `${all}.${String(key)}`;
  }, at);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey(path, key, known)).join('\n  ');
  }
  // Without a path, the whole file is meant.
  return `${path.replace(/: $/, '')} is ${describe(dig(raw, issue.path), hide)}; wanted is ${issue.message}`;
}

function unknownKey(path: string, key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  const instead = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return `${path === '' || path.endsWith(': ') ? path : `${path}.`}${key} is no setting; ${instead}`;
}

/** A list may be given as one text with commas; a comma before an @ may as well be one of a password. */
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

/** What stands there. Of what is hidden, or has the look of an address with credentials, only its sort. */
function describe(value: unknown, hide: boolean): string {
  if (value === undefined || value === null || value === '') return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (value === '***') return '***, as secrets are printed';
  if (hide) return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
  if (typeof value !== 'string') return String(value);
  if (value.includes('@')) return 'a text with an @, which may hold credentials and is not shown';
  return value.length > 80 || value.includes('\n') ? 'a long text' : JSON.stringify(value);
}
