import { asRecord, asString, isRecord } from '@sluice/platform';
import { ApiError } from './api-error.ts';
import type { Resource, SkippedObject, WatchEvent } from './cluster.ts';
import { LineSplitter } from './line-splitter.ts';
import { decodeWatchEvent, FrameSplitter, MalformedProtobufError, type TextTable } from './protobuf/index.ts';
import { resourceVersionOf } from './resource-version.ts';
import { resourceInfo } from './resources.ts';
import { errorFromStatus } from './status.ts';

export interface WatchReading {
  readonly resource: Resource;
  /**
   * The watch starts with initial events, which stand for a list. An object that is skipped among them would count as
   * deleted, so the watch fails instead.
   */
  readonly initialEvents: boolean;
  /** Called for each malformed object that is skipped. */
  readonly onSkipped: (skipped: SkippedObject) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

type Next = (chunk: Buffer) => Iterable<WatchFrame>;

/** The events of a JSON watch, one per line. Throws ApiError when the server ends it with an error. */
export function eventsOfLines(
  reading: WatchReading,
  chunks: AsyncIterable<Buffer>,
): AsyncIterable<readonly WatchEvent[]> {
  const splitter = new LineSplitter();
  return events(reading, chunks, splitter, function* (chunk) {
    for (const line of splitter.push(chunk)) yield parseWatchLine(reading.resource, line, reading.now());
  });
}

/**
 * The events of a protobuf watch, one per frame. Throws ApiError when the server ends it with an error, and, after
 * calling `onPartial`, for a frame with fields that this version does not know.
 */
export function eventsOfFrames(
  reading: WatchReading,
  chunks: AsyncIterable<Buffer>,
  texts: TextTable,
  onPartial: () => void,
): AsyncIterable<readonly WatchEvent[]> {
  const splitter = new FrameSplitter();
  return events(reading, chunks, splitter, function* (chunk) {
    for (const bytes of splitter.push(chunk)) {
      const frame = parseWatchFrame(reading.resource, bytes, texts, reading.now());
      if (frame.kind === 'partial') onPartial();
      yield frame;
    }
  });
}

async function* events(
  { resource, initialEvents, onSkipped }: WatchReading,
  chunks: AsyncIterable<Buffer>,
  splitter: { readonly dropped: number },
  next: Next,
): AsyncIterable<readonly WatchEvent[]> {
  let dropped = 0;
  let isListing = initialEvents;
  for await (const chunk of chunks) {
    const batch: WatchEvent[] = [];
    let failure: ApiError | undefined;
    for (const frame of next(chunk)) {
      if (frame.kind === 'event') {
        batch.push(frame.event);
        if (frame.event.type === 'BOOKMARK' && frame.event.initialEventsEnd) isListing = false;
      } else if (frame.kind === 'skipped') {
        onSkipped(frame.skipped);
        if (isListing) failure ??= incompleteEvents(frame.skipped);
      } else {
        failure = frame.kind === 'error' ? frame.error : unknownFields(resource);
        break;
      }
    }
    if (splitter.dropped > dropped) {
      dropped = splitter.dropped;
      const skipped = { resource, namespace: '', name: '', why: 'the event is too long' };
      onSkipped(skipped);
      if (isListing) failure ??= incompleteEvents(skipped);
    }
    if (batch.length > 0) yield batch;
    if (failure !== undefined) throw failure;
  }
}

function incompleteEvents({ resource, namespace, name, why }: SkippedObject): ApiError {
  const message = `the initial events of ${resource} contain a malformed object ${namespace}/${name}: ${why}`;
  return new ApiError(message, { kind: 'retry', status: 0, reason: 'MalformedObject', retryAfterMs: 0 });
}

function unknownFields(resource: Resource): ApiError {
  const message = `${resource} have fields that this version of Sluice does not know; reading them as JSON to keep all fields`;
  return new ApiError(message, { kind: 'retry', status: 0, reason: 'UnknownFields', retryAfterMs: 0 });
}

type WatchLine =
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
function watchLineOf(resource: Resource, type: string, object: unknown): WatchLine {
  if (type === 'BOOKMARK') {
    const resourceVersion = resourceVersionOf(object);
    if (resourceVersion !== '') return { kind: 'event', event: bookmark(object, resourceVersion) };
    return skip(describe(resource, object, 'the bookmark has no resourceVersion'));
  }
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    const why = problemOf(resource, object);
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
function problemOf(resource: Resource, object: unknown): string | undefined {
  if (!isRecord(object)) return 'not an object';
  // Decoded from protobuf, it has no kind.
  if (object.kind !== undefined && object.kind !== resourceInfo[resource].kind) return 'of another kind';
  if (!isRecord(object.metadata)) return 'no metadata';
  if (asString(object.metadata.name) === '') return 'no name';
  return resourceVersionOf(object) === '' ? 'no resourceVersion' : undefined;
}

/** Of all names in Kubernetes; a longer one is cut in messages. */
const longestName = 253;

export function describe(resource: Resource, object: unknown, why: string): SkippedObject {
  const metadata = asRecord(asRecord(object).metadata);
  const text = (value: unknown) => asString(value).slice(0, longestName);
  return { resource, namespace: text(metadata.namespace), name: text(metadata.name), why };
}

/** The first name in text that is not JSON, for the log. */
function nameIn(line: string): string {
  return /"name":\s?"([^"\\]{1,253})"/.exec(line)?.[1] ?? '';
}

/** `partial`: an object that Sluice writes has a field that the protobuf codec does not know. */
type WatchFrame = WatchLine | { readonly kind: 'partial' };

/** Parses one frame of a protobuf watch. `now` is in milliseconds since the epoch. */
export function parseWatchFrame(resource: Resource, frame: Buffer, texts: TextTable, now: number): WatchFrame {
  try {
    const { type, object, isPartial } = decodeWatchEvent(resource, frame, texts);
    if (type === 'ERROR') return { kind: 'error', error: errorFromStatus(object, now) };
    return isPartial ? { kind: 'partial' } : watchLineOf(resource, type, object);
  } catch (error) {
    if (!(error instanceof MalformedProtobufError)) throw error;
    const skipped = { resource, namespace: '', name: '', why: `invalid protobuf: ${error.message}` };
    return { kind: 'skipped', skipped };
  }
}
