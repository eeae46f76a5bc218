import { ApiError } from './api-error.ts';
import type { Resource, SkippedObject, WatchEvent } from './cluster.ts';
import { LineSplitter } from './line-splitter.ts';
import { FrameSplitter, type TextTable } from './protobuf/index.ts';
import { parseWatchFrame, type WatchFrame } from './watch-frame.ts';
import { parseWatchLine } from './watch-line.ts';

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
