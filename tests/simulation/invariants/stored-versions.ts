import { asRecord } from '@sluice/runtime';
import type { Commit, ScopeState, StoredEntry } from '@sluice/store';
import type { Violations } from '../violations.ts';

/** What a reconciler has stored about an object never becomes an older version of it. */
export class StoredVersions {
  readonly #violations: Violations;
  /** By scope, key and field. */
  readonly #versions = new Map<string, { readonly uid: string; readonly resourceVersion: bigint }>();

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** What the store has lost may be stored again. */
  claimed(scope: string, { entries }: ScopeState): void {
    for (const name of [...this.#versions.keys()]) if (name.startsWith(`${scope} `)) this.#versions.delete(name);
    for (const entry of entries) this.#store(scope, entry);
  }

  committed(member: string, { scope, entries }: Commit): void {
    for (const entry of entries) {
      const before = this.#versions.get(nameOf(scope, entry));
      const after = this.#store(scope, entry);
      if (before === undefined || after === undefined || before.uid !== after.uid) continue;
      if (after.resourceVersion < before.resourceVersion)
        this.#violations.report(
          'versions increase',
          `${member} commits ${entry.field} of ${entry.key} at ${after.resourceVersion} after ${before.resourceVersion}`,
        );
    }
  }

  #store(scope: string, entry: StoredEntry) {
    if (!isObject(entry)) return undefined;
    if (entry.value === undefined) this.#versions.delete(nameOf(scope, entry));
    const { uid, resourceVersion } = asRecord(asRecord(entry.value).metadata);
    if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
    const version = { uid, resourceVersion: BigInt(resourceVersion) };
    this.#versions.set(nameOf(scope, entry), version);
    return version;
  }
}

const nameOf = (scope: string, { key, field }: StoredEntry): string => `${scope} ${key} ${field}`;

const isObject = ({ field }: StoredEntry): boolean => /^(?:slice\/.*|endpoints):object$/.test(field);
