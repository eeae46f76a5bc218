import { asRecord, asString, isRecord } from '@sluice/platform';
import type { ApiError } from './api-error.ts';
import type { Resource, SkippedObject, WatchEvent } from './cluster.ts';
import { errorFromStatus } from './status.ts';

export type WatchLine =
  | { readonly kind: 'event'; readonly event: WatchEvent }
  | { readonly kind: 'skipped'; readonly skipped: SkippedObject }
  | { readonly kind: 'error'; readonly error: ApiError };

/** Parses one line of a JSON watch. `now` is in milliseconds since the epoch. */
export function parseWatchLine(resource: Resource, line: string, now: number): WatchLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return skip({ resource, namespace: '', name: nameIn(line), why: 'the line is not JSON' });
  }
  const { type, object } = asRecord(parsed);
  if (type === 'ERROR') return { kind: 'error', error: errorFromStatus(object, now) };
  return watchLineOf(resource, asString(type), object);
}

/** Parses a watch event other than ERROR. */
export function watchLineOf(resource: Resource, type: string, object: unknown): WatchLine {
  if (type === 'BOOKMARK') {
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion !== '') return { kind: 'event', event: bookmark(object, resourceVersion) };
    return skip(describe(resource, object, 'the bookmark has no resourceVersion'));
  }
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    const why = problemOf(object);
    if (why === undefined) return { kind: 'event', event: { type, object: asRecord(object) } };
    return skip(describe(resource, object, why));
  }
  return skip(describe(resource, object, `unknown event type "${type.slice(0, 40)}"`));
}

function skip(skipped: SkippedObject): WatchLine {
  return { kind: 'skipped', skipped };
}

function bookmark(object: unknown, resourceVersion: string): WatchEvent {
  const annotations = asRecord(asRecord(asRecord(object).metadata).annotations);
  return annotations['k8s.io/initial-events-end'] === 'true'
    ? { type: 'BOOKMARK', resourceVersion, initialEventsEnd: true }
    : { type: 'BOOKMARK', resourceVersion };
}

/**
 * Checks the fields that every object must have; others are validated where they are used. Returns the problem, if any.
 */
function problemOf(object: unknown): string | undefined {
  if (!isRecord(object)) return 'not an object';
  if (!isRecord(object.metadata)) return 'no metadata';
  if (asString(object.metadata.name) === '') return 'no name';
  return resourceVersionOf(object) === '' ? 'no resourceVersion' : undefined;
}

/** Of all names in Kubernetes; a longer one is cut in messages. */
const longestName = 253;

export function resourceVersionOf(object: unknown): string {
  return asString(asRecord(asRecord(object).metadata).resourceVersion);
}

export function describe(resource: Resource, object: unknown, why: string): SkippedObject {
  const metadata = asRecord(asRecord(object).metadata);
  const text = (value: unknown) => asString(value).slice(0, longestName);
  return { resource, namespace: text(metadata.namespace), name: text(metadata.name), why };
}

/** The first name in text that is not JSON, for the log. */
function nameIn(line: string): string {
  return /"name":\s?"([^"\\]{1,253})"/.exec(line)?.[1] ?? '';
}
