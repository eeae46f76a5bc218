import { compareResourceVersions } from '@sluice/model';

/**
 * A deleted object, so that a late watch event or Outcome does not bring it back. It ends, since a restored cluster has such
 * objects again, and an answer that an object does not exist may have been wrong.
 */
export type Tombstone = ObservedDeletion | ReportedDeletion;

/** A watcher has published the deletion. A newer list or version shows that the object exists. */
interface ObservedDeletion {
  readonly uid: string;
  /** The newest version of the object's resource that was published with the deletion. */
  readonly resourceVersion: string;
}

/** Only an Outcome has reported the deletion, and API servers do not tell its version. */
interface ReportedDeletion {
  readonly uid: string;
  /** In milliseconds since the Unix epoch. */
  readonly reportedAt: number;
}

/** Bounds the memory. */
const maxTombstones = 64;

/**
 * How long a watcher may publish an object that the writer has found deleted, in milliseconds. Longer than a watch takes to notice
 * that its connection is dead (150 s).
 */
const maxWatchLagMs = 300_000;

/** Until when a watcher may still publish an object that only an Outcome has reported deleted; null: there is none. */
export function unpublishedUntil(tombstones: readonly Tombstone[]): number | null {
  const times = tombstones.flatMap((tombstone) => ('reportedAt' in tombstone ? [tombstone.reportedAt] : []));
  return times.length === 0 ? null : Math.max(...times) + maxWatchLagMs;
}

/** Adds a tombstone in place of one that knows less. The oldest are dropped. */
export function withTombstone(tombstones: readonly Tombstone[], added: Tombstone): readonly Tombstone[] {
  if (added.uid === '') return tombstones;
  const known = tombstones.find(({ uid }) => uid === added.uid);
  if (known === undefined) return [...tombstones, added].slice(-maxTombstones);
  if (!knowsMore(added, known)) return tombstones;
  return tombstones.map((tombstone) => (tombstone === known ? added : tombstone));
}

function knowsMore(added: Tombstone, known: Tombstone): boolean {
  if ('reportedAt' in added) return 'reportedAt' in known && added.reportedAt > known.reportedAt;
  return 'reportedAt' in known || compareResourceVersions(added.resourceVersion, known.resourceVersion) > 0;
}

export function withoutTombstone(tombstones: readonly Tombstone[], uid: string): readonly Tombstone[] {
  return tombstones.some((tombstone) => tombstone.uid === uid)
    ? tombstones.filter((tombstone) => tombstone.uid !== uid)
    : tombstones;
}

/**
 * Whether the object is deleted, although a watcher has seen it at these versions: its own, or that of a list. Without
 * versions, whether it is deleted although an Outcome contains it.
 */
export function isDeleted(
  tombstones: readonly Tombstone[],
  uid: string,
  now: number,
  ...seenAt: readonly string[]
): boolean {
  const tombstone = tombstones.find((each) => each.uid === uid);
  if (tombstone === undefined) return false;
  if ('reportedAt' in tombstone) return Math.abs(now - tombstone.reportedAt) < maxWatchLagMs;
  return seenAt.every((version) => compareResourceVersions(version, tombstone.resourceVersion) <= 0);
}
