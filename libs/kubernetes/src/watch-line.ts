import { asRecord, asString, isRecord } from '@sluice/runtime';
import type { ApiError } from './api-error.ts';
import type { Resource, WatchEvent } from './cluster.ts';
import { errorFromStatus } from './status.ts';

/** An object that cannot be used. It is left out, and the rest goes on. */
export interface SkippedObject {
  readonly resource: Resource;
  readonly namespace: string;
  /** As far as it can be told. */
  readonly name: string;
  readonly why: string;
}

export type WatchLine =
  | { readonly kind: 'event'; readonly event: WatchEvent }
  | { readonly kind: 'skipped'; readonly skipped: SkippedObject }
  | { readonly kind: 'error'; readonly error: ApiError };

/** What one line of a watch says. `now` is in milliseconds since the epoch. */
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

/** What an event says that is no error. */
export function watchLineOf(resource: Resource, type: string, object: unknown): WatchLine {
  if (type === 'BOOKMARK') {
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion !== '') return { kind: 'event', event: bookmark(object, resourceVersion) };
    return skip(describe(resource, object, 'the bookmark has no resourceVersion'));
  }
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    const why = whatIsWrong(object);
    if (why === undefined) return { kind: 'event', event: { type, object: asRecord(object) } };
    return skip(describe(resource, object, why));
  }
  return skip(describe(resource, object, `an event of type "${type}" is not known`));
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

/** The least that every object has; the rest is checked where it is used. */
export function whatIsWrong(object: unknown): string | undefined {
  if (!isRecord(object)) return 'it is not an object';
  if (!isRecord(object.metadata)) return 'it has no metadata';
  if (asString(object.metadata.name) === '') return 'it has no name';
  return resourceVersionOf(object) === '' ? 'it has no resourceVersion' : undefined;
}

export function resourceVersionOf(object: unknown): string {
  return asString(asRecord(asRecord(object).metadata).resourceVersion);
}

export function describe(resource: Resource, object: unknown, why: string): SkippedObject {
  const metadata = asRecord(asRecord(object).metadata);
  return { resource, namespace: asString(metadata.namespace), name: asString(metadata.name), why };
}

/** The first name in text that is not JSON, for the log. */
function nameIn(line: string): string {
  return /"name":\s?"([^"\\]{1,253})"/.exec(line)?.[1] ?? '';
}
