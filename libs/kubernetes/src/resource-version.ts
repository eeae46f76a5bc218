import { compareResourceVersions } from '@sluice/model';
import { asRecord, asString } from '@sluice/platform';
import { readerError } from './status.ts';

export function resourceVersionOf(object: unknown): string {
  return asString(asRecord(asRecord(object).metadata).resourceVersion);
}

/** Whether `a` is older than `b`. Versions that are not numbers are incomparable, so never older. */
export function isOlderVersion(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && compareResourceVersions(a, b) < 0;
}

const isNumber = (version: string): boolean => /^(0|[1-9]\d*)$/.test(version);

/** After this many stale lists in a row the cluster counts as restored from a backup. */
const maxStaleLists = 6;
const maxSilentWatches = 2;

/**
 * Keeps a reflector from delivering an older state after a newer one: from an API server that lags behind, or whose etcd was
 * restored from a backup. Violations are ApiErrors; a list, which is a quorum read, tells the two cases apart.
 */
export class ResourceVersionGuard {
  #delivered: string;
  #staleLists = 0;
  #silentWatches = 0;

  /** `delivered` is the newest resourceVersion delivered to the sink so far, or empty. */
  constructor(delivered: string) {
    this.#delivered = delivered;
  }

  /** Records that the sink has this resourceVersion. */
  advance(resourceVersion: string): void {
    this.#delivered = resourceVersion;
    this.#staleLists = 0;
    this.#silentWatches = 0;
  }

  /** The resourceVersion that a list must reach; empty if none is known or the cluster counts as restored. */
  get minimum(): string {
    return this.#staleLists >= maxStaleLists ? '' : this.#delivered;
  }

  /** Whether the last list was older than what was delivered. */
  get isStale(): boolean {
    return this.#staleLists > 0;
  }

  /** A server responded that it has not reached `minimum`. */
  countStaleResponse(): void {
    this.#staleLists++;
  }

  /** Returns true for a current list, and false for an old one of a restored cluster. Throws ApiError for a stale list. */
  acceptList(resourceVersion: string): boolean {
    if (!isOlderVersion(resourceVersion, this.#delivered)) return true;
    if (this.#staleLists >= maxStaleLists) return false;
    // Reachable: stale list rejected
    this.#staleLists++;
    const message = `stale list: resourceVersion ${resourceVersion} is older than the delivered ${this.#delivered}`;
    throw readerError('retry', 'StaleList', message);
  }

  /** Throws ApiError `gone` if a quorum read has an older version than delivered. */
  checkCurrent(resourceVersion: string): void {
    if (!isOlderVersion(resourceVersion, this.#delivered)) return;
    // Reachable: quorum read older than what was delivered
    const message = `the cluster's resourceVersion ${resourceVersion} is older than the delivered ${this.#delivered}`;
    throw readerError('gone', 'WentBack', message);
  }

  /** Whether an event is not newer than `current`. */
  isOutdated(version: string, current: string): boolean {
    return version === current || isOlderVersion(version, current);
  }

  /** Throws ApiError if the bookmark is older than `current`. */
  checkBookmark(version: string, current: string): void {
    if (!isOlderVersion(version, current)) return;
    throw readerError(
      'gone',
      'WentBack',
      `the bookmark's resourceVersion ${version} is older than the delivered ${current}`,
    );
  }

  /**
   * A watch opened but sent nothing, not even a bookmark. Throws ApiError the second time: something between withholds events.
   */
  countSilentWatch(): void {
    this.#silentWatches++;
    if (this.#silentWatches < maxSilentWatches) return;
    this.#silentWatches = 0;
    throw readerError('gone', 'WentBack', 'the server opens watches but sends no events or bookmarks');
  }
}
