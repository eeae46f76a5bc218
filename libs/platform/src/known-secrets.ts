import { SecretIndex } from './secret-index.ts';

/** Shorter values are words that a log line contains anyway; a name such as `password=` gives them away. */
const shortestKnown = 8;

/**
 * The secrets that this process uses now, and those that they replaced, which what is in flight may still quote. Whoever reads a
 * secret adds it; `redact` masks it in every log line.
 */
export class KnownSecrets {
  readonly #owners = new Map<object, { readonly current: readonly string[]; readonly previous: readonly string[] }>();
  readonly #index = new SecretIndex(32);

  /** Replaces what the owner used before. */
  remember(owner: object, secrets: readonly (string | undefined)[]): void {
    const known = this.#owners.get(owner);
    const current = secrets.filter((one): one is string => (one ?? '').trim().length >= shortestKnown);
    if (known !== undefined && isSame(known.current, current)) return;
    for (const form of current.flatMap(formsOf)) this.#index.add(form);
    for (const form of (known?.previous ?? []).flatMap(formsOf)) this.#index.remove(form);
    this.#owners.set(owner, { current, previous: known?.current ?? [] });
  }

  /** The owner uses none of its secrets any more. */
  forget(owner: object): void {
    const { current = [], previous = [] } = this.#owners.get(owner) ?? {};
    for (const form of [...current, ...previous].flatMap(formsOf)) this.#index.remove(form);
    this.#owners.delete(owner);
  }

  mask(text: string): string {
    return this.#index.mask(text);
  }
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i]);

/** One for the process: a secret of one part can be quoted by an error of any other. */
export const knownSecrets = new KnownSecrets();

/** A secret in every form that it is sent or written in. */
export function formsOf(secret: string): readonly string[] {
  const trimmed = secret.trim();
  const bytes = Buffer.from(trimmed);
  const base64 = [bytes.toString('base64'), Buffer.from(secret).toString('base64'), bytes.toString('base64url')];
  const lines = trimmed.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  const json = jsonString(trimmed);
  const encoded = [encodeURIComponent(trimmed.toWellFormed()), encodeURI(trimmed.toWellFormed())];
  const padded = base64.flatMap((form) => [form, form.replace(/={1,2}$/, '')]);
  return [...new Set([trimmed, json, jsonString(json), ...encoded, ...padded, ...lines])];
}

const jsonString = (text: string): string => JSON.stringify(text).slice(1, -1);
