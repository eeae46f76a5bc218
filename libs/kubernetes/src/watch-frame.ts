import type { Resource } from './cluster.ts';
import { decodeWatchEvent, MalformedProtobufError, type TextTable } from './protobuf/index.ts';
import { errorFromStatus } from './status.ts';
import { type WatchLine, watchLineOf } from './watch-line.ts';

/** `partial`: an object that Sluice writes has a field that the protobuf codec does not know. */
export type WatchFrame = WatchLine | { readonly kind: 'partial' };

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
