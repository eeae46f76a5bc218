import { compareStamps, isStamp, type Stamp } from '@sluice/messages';
import { asRecord } from '@sluice/platform';
import type { Commit, ScopeState, StoredEntry } from '@sluice/store';
import type { Layer } from '../scenario.ts';
import type { Violations } from '../violations.ts';
import type { Conditions } from './conditions.ts';

interface Version {
  readonly uid: string;
  readonly resourceVersion: bigint;
}

/** What a reconciler has stored of a scope. */
class Stored {
  /** Versions of objects by key and field. */
  readonly versions = new Map<string, Version>();
  /** uids of deleted objects, by key. */
  readonly deleted = new Map<string, readonly string[]>();
  /** Stamp of the last Change, by key; also of Services that were removed since. */
  readonly stamps = new Map<string, Stamp>();
}

/**
 * What a reconciler has stored about an object never becomes an older version of it, and a deleted object does not come back. A
 * Service never returns to an older Change, also after it was removed.
 */
export class StoredVersions {
  readonly #violations: Violations;
  /** Without it, a late event replaces a newer version. */
  readonly #comparesVersions: boolean;
  /** Without it, a late event or Outcome brings an object back. */
  readonly #remembersDeletions: boolean;
  readonly #conditions: Conditions;
  readonly #scopes = new Map<string, Stored>();

  constructor(violations: Violations, disabled: readonly Layer[], conditions: Conditions) {
    this.#conditions = conditions;
    this.#violations = violations;
    this.#comparesVersions = !disabled.includes('versions');
    this.#remembersDeletions = !disabled.includes('tombstones');
  }

  /** What the store has lost may be stored again. */
  claimed(scope: string, { entries }: ScopeState): void {
    const stored = new Stored();
    this.#scopes.set(scope, stored);
    for (const entry of entries) store(stored, entry);
  }

  committed(member: string, { scope, entries }: Commit): void {
    const stored = this.#scopes.get(scope) ?? new Stored();
    this.#scopes.set(scope, stored);
    // A restored cluster has older versions.
    const report = (what: string) =>
      this.#conditions.isRestored || this.#violations.report('versions increase', `${member} commits ${what}`);
    for (const entry of entries) {
      const { key, field } = entry;
      const [version, stamp] = [stored.versions.get(nameOf(entry)), stored.stamps.get(key)];
      store(stored, entry);
      const after = stored.versions.get(nameOf(entry));
      if (
        this.#comparesVersions &&
        version?.uid === after?.uid &&
        after &&
        version &&
        after.resourceVersion < version.resourceVersion
      )
        report(`${field} of ${key} at ${after.resourceVersion} after ${version.resourceVersion}`);
      const newStamp = stored.stamps.get(key);
      if (field === 'snapshot' && stamp && newStamp && compareStamps(newStamp, stamp) < 0)
        report(`${key} at Change ${textOf(newStamp)} after ${textOf(stamp)}`);
    }
    for (const entry of entries) {
      const uid = stored.versions.get(nameOf(entry))?.uid;
      if (
        this.#remembersDeletions &&
        entry.value !== undefined &&
        uid !== undefined &&
        stored.deleted.get(entry.key)?.includes(uid)
      )
        report(`${entry.field} of ${entry.key}, which is known to be deleted`);
    }
  }
}

function store({ versions, deleted, stamps }: Stored, entry: StoredEntry): void {
  const { key, field, value } = entry;
  if (field === 'tombstones') {
    // A fault may have made it unreadable.
    const tombstones: readonly { readonly uid: string }[] = Array.isArray(value) ? value : [];
    deleted.set(
      key,
      tombstones.map(({ uid }) => uid),
    );
  }
  if (field === 'snapshot') {
    const { stamp } = asRecord(value);
    // A state that was discarded has none.
    if (isStamp(stamp) && stamp.epoch > 0) stamps.set(key, stamp);
  }
  if (!isObject(entry)) return;
  const { uid, resourceVersion } = asRecord(asRecord(value).metadata);
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') versions.delete(nameOf(entry));
  else versions.set(nameOf(entry), { uid, resourceVersion: BigInt(resourceVersion) });
}

const nameOf = ({ key, field }: StoredEntry): string => `${key} ${field}`;
const textOf = ({ epoch, sequence }: Stamp): string => `${epoch}/${sequence}`;

const isObject = ({ field }: StoredEntry): boolean => /^(?:slice\/.*|endpoints):object$/.test(field);
