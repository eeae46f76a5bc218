import { UsageError } from '@sluice/platform/process';
import type { Kind } from './kinds.ts';
import type { Visibility } from './setting-paths.ts';

/** Collects all problems of a configuration, so that they are reported at once. */
export class Problems {
  readonly #texts: string[] = [];

  add(text: string): void {
    this.#texts.push(text);
  }

  get none(): boolean {
    return this.#texts.length === 0;
  }

  /** Reports a key that no setting has; `at` precedes its name. */
  addUnknown(at: string, key: string, known: readonly string[]): void {
    const meant = nearest(key, known);
    const instead = meant === undefined ? `known settings: ${known.join(', ')}` : `did you mean ${meant}?`;
    this.add(`${at} is not a known setting; ${instead}`);
  }

  /** Reports a value of the wrong type, without what may be secret. */
  addWrong(at: string, raw: unknown, expected: string, visibility: Visibility = 'hidden'): void {
    this.add(`${at} is ${describe(raw, visibility)}; expected ${expected}`);
  }

  /** @throws UsageError if there are any */
  throwIfAny(): void {
    if (this.#texts.length === 0) return;
    const [first = '', ...others] = this.#texts;
    throw new UsageError(others.length === 0 ? first : ['invalid configuration:', ...this.#texts].join('\n  '));
  }
}

/** A value to validate. `at` returns the prefix of a message about it, or about an entry such as `[1]`. */
interface Candidate<T> {
  readonly kind: Kind<T>;
  readonly raw: unknown;
  readonly at: (entry: string) => string;
  readonly visibility: Visibility;
}

/** Validates a value; undefined after a problem was added. */
export function parse<T>({ kind, raw, at, visibility }: Candidate<T>, problems: Problems): { value: T } | undefined {
  let isValid = true;
  const value = kind.parse(raw, (index) => {
    isValid = false;
    if (index === undefined) problems.addWrong(at(''), raw, kind.expected, visibility);
    else problems.addWrong(at(`[${index}]`), entryOf(raw, index), kind.expected, visibility);
    return undefined;
  });
  // Safe: a kind returns a value unless it rejects.
  return isValid ? { value: value as T } : undefined;
}

/** An entry of a list, or of one comma-separated string. A string with an @ may have a comma in a password. */
function entryOf(raw: unknown, index: number): unknown {
  if (Array.isArray(raw)) return raw[index];
  return typeof raw === 'string' && !raw.includes('@') ? raw.split(',')[index]?.trim() : raw;
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

/** The most similar candidate for a misspelled word, or undefined if none is similar. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase());
    if (steps >= least) continue;
    least = steps;
    best = candidate;
  }
  return best;
}

/** Damerau–Levenshtein distance: characters to insert, delete, replace or swap with a neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let steps = Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, at(i - 2, j - 2) + 1);
      rows[i]?.push(steps);
    }
  }
  return at(a.length, b.length);
}
