import { beforeEach, describe, expect, it, test } from 'vitest';
import type { SkippedObject, WatchEvent } from './cluster.ts';
import { TextTable } from './protobuf/index.ts';
import {
  encodedBookmark,
  encodedSlice,
  encodedStatus,
  encodedWatchEvent,
  framed,
  sliceFrame,
} from './protobuf/testing/fixtures.ts';
import { eventsOfFrames, eventsOfLines, parseWatchFrame, parseWatchLine, type WatchReading } from './watch-events.ts';

describe('watch events', () => {
  let skipped: SkippedObject[];
  let batches: (readonly WatchEvent[])[];

  beforeEach(() => {
    [skipped, batches] = [[], []];
  });

  const reading = (initialEvents: boolean): WatchReading => ({
    ...{ resource: 'endpointslices', initialEvents, now: () => 0 },
    onSkipped: (object) => void skipped.push(object),
  });

  async function* chunks(...parts: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
    for (const part of parts) yield Buffer.from(part);
  }

  /** Reads all batches, and returns the error that ends the watch. */
  async function read(events: AsyncIterable<readonly WatchEvent[]>): Promise<unknown> {
    try {
      for await (const batch of events) batches.push(batch);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  const object = (name: string) => ({ metadata: { namespace: 'ns', name, resourceVersion: '1' } });
  const line = (type: string, of: unknown) => `${JSON.stringify({ type, object: of })}\n`;
  const end = line('BOOKMARK', {
    metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
  });
  const added = (name: string): WatchEvent => ({ type: 'ADDED', object: object(name) });
  /** An event of more than 8 MiB, in three chunks. */
  const tooLong = ['{"type":"ADDED","object":"', 'x'.repeat(9_000_000), '"}\n'];

  const lines = (parts: readonly string[], initialEvents = false) =>
    read(eventsOfLines(reading(initialEvents), chunks(...parts)));

  describe('a JSON watch', () => {
    test('yields what each chunk completes, and nothing for a chunk that completes nothing', async () => {
      const text = line('ADDED', object('b'));
      expect(await lines([line('ADDED', object('a')), text.slice(0, 9), text.slice(9)])).toBeUndefined();
      expect(batches).toEqual([[added('a')], [added('b')]]);
    });

    test('skips an event that is too long, reports it once and continues', async () => {
      expect(await lines([...tooLong, line('ADDED', object('b'))])).toBeUndefined();
      expect(batches).toEqual([[added('b')]]);
      expect(skipped).toEqual([{ resource: 'endpointslices', namespace: '', name: '', why: 'the event is too long' }]);
    });

    test('fails if an initial event is too long, because the object would count as deleted', async () => {
      expect(await lines(tooLong, true)).toMatchObject({ kind: 'retry', reason: 'MalformedObject', retryAfterMs: 0 });
    });

    test('delivers what came before a malformed initial event, and fails with the first one', async () => {
      const malformed = line('ADDED', { metadata: { name: 'x' } }) + line('ADDED', { metadata: { name: 'y' } });
      const error = await lines([line('ADDED', object('a')) + malformed], true);
      expect(error).toMatchObject({
        reason: 'MalformedObject',
        message: expect.stringMatching(/\/x: no resourceVersion/),
      });
      expect(batches).toEqual([[added('a')]]);
      expect(skipped.map(({ name }) => name)).toEqual(['x', 'y']);
    });

    test('skips malformed objects after its initial events', async () => {
      expect(await lines([end, line('ADDED', { metadata: { name: 'x' } }), ...tooLong], true)).toBeUndefined();
      expect(skipped.map(({ why }) => why)).toEqual(['no resourceVersion', 'the event is too long']);
    });

    test('is not at the end of its initial events after another bookmark', async () => {
      const bookmark = line('BOOKMARK', { metadata: { resourceVersion: '9' } });
      expect(await lines([bookmark, line('ADDED', { metadata: { name: 'x' } })], true)).toMatchObject({
        reason: 'MalformedObject',
      });
    });

    test('reads nothing after an error of the server', async () => {
      const status = line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
      expect(await lines([line('ADDED', object('a')) + status + line('ADDED', object('b'))])).toMatchObject({
        kind: 'gone',
      });
      expect(batches).toEqual([[added('a')]]);
    });
  });

  describe('a protobuf watch', () => {
    const slice = (name: string) => ({ ...object(name), addressType: 'IPv4' });
    let partial: number;

    beforeEach(() => {
      partial = 0;
    });

    const frames = (parts: readonly Buffer[], initialEvents = false) =>
      read(eventsOfFrames(reading(initialEvents), chunks(...parts), new TextTable(), () => partial++));

    test('yields what each chunk completes', async () => {
      const b = sliceFrame('MODIFIED', slice('b'));
      expect(await frames([sliceFrame('ADDED', slice('a')), b.subarray(0, 7), b.subarray(7)])).toBeUndefined();
      expect(batches).toMatchObject([
        [{ type: 'ADDED', object: { metadata: { name: 'a' } } }],
        [{ type: 'MODIFIED', object: { metadata: { name: 'b' } } }],
      ]);
      expect(partial).toBe(0);
    });

    test('ends at a frame with unknown fields, to be read as JSON', async () => {
      const error = await frames([
        Buffer.concat([sliceFrame('ADDED', slice('a')), sliceFrame('ADDED', slice('b'), true)]),
      ]);
      expect(error).toMatchObject({ kind: 'retry', reason: 'UnknownFields', retryAfterMs: 0 });
      expect([batches.length, partial]).toEqual([1, 1]);
    });

    test('fails if an initial event cannot be decoded, and skips it later', async () => {
      const garbage = framed(Buffer.from('{}'));
      expect(await frames([garbage], true)).toMatchObject({ reason: 'MalformedObject' });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const last = framed(encodedWatchEvent('BOOKMARK', encodedBookmark({ resourceVersion: '9', annotations })));
      expect(await frames([last, garbage], true)).toBeUndefined();
      expect(skipped).toHaveLength(2);
    });
  });
});

const parse = (value: unknown) => parseWatchLine('pods', typeof value === 'string' ? value : JSON.stringify(value), 0);
const pod = { metadata: { namespace: 'ns', name: 'p', resourceVersion: '5' }, spec: {} };

describe('parseWatchLine', () => {
  it.each(['ADDED', 'MODIFIED', 'DELETED'])('reads %s', (type) => {
    expect(parse({ type, object: pod })).toEqual({ kind: 'event', event: { type, object: pod } });
  });

  it('reads bookmarks, and the one that ends the initial events', () => {
    const bookmark = (annotations?: object) => ({
      type: 'BOOKMARK',
      object: { kind: 'Pod', metadata: { resourceVersion: '7', annotations } },
    });
    expect(parse(bookmark())).toEqual({ kind: 'event', event: { type: 'BOOKMARK', resourceVersion: '7' } });
    expect(parse(bookmark({ 'k8s.io/initial-events-end': 'true' }))).toEqual({
      kind: 'event',
      event: { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
    });
  });

  it('turns ERROR into an ApiError', () => {
    const line = parse({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } });
    expect(line).toMatchObject({ kind: 'error', error: { kind: 'gone', message: 'too old' } });
  });

  it.each([
    ['{"type":"ADDED","object":{"metadata":{"name":"p"', { name: 'p', why: 'the line is not JSON' }],
    ['nonsense', { name: '', why: 'the line is not JSON' }],
    [{ type: 'ADDED', object: 3 }, { why: 'not an object' }],
    [{ type: 'ADDED', object: {} }, { why: 'no metadata' }],
    [
      { type: 'ADDED', object: { ...pod, kind: 'Node' } },
      { name: 'p', why: 'of another kind' },
    ],
    [
      { type: 'ADDED', object: { metadata: { namespace: 'ns' } } },
      { namespace: 'ns', why: 'no name' },
    ],
    [
      { type: 'ADDED', object: { metadata: { name: 'p' } } },
      { name: 'p', why: 'no resourceVersion' },
    ],
    [
      { type: 'RENAMED', object: pod },
      { name: 'p', why: 'unknown event type "RENAMED"' },
    ],
    [{ type: 'BOOKMARK', object: {} }, { why: 'the bookmark has no resourceVersion' }],
    [[], { why: 'unknown event type ""' }],
  ])('skips %j and names it', (line, skipped) => {
    expect(parse(line)).toMatchObject({ kind: 'skipped', skipped: { resource: 'pods', ...skipped } });
  });
});

describe('watch frame', () => {
  const parse = (frame: Buffer) => parseWatchFrame('endpointslices', frame, new TextTable(), 0);
  const slice = { metadata: { name: 's', namespace: 'ns', resourceVersion: '7' }, addressType: 'IPv4' };

  it('parses an object', () => {
    expect(parse(encodedWatchEvent('MODIFIED', encodedSlice(slice)))).toEqual({
      kind: 'event',
      event: { type: 'MODIFIED', object: { ...slice, endpoints: null, ports: null } },
    });
  });

  it('parses a bookmark and whether it ends the initial events', () => {
    const bookmark = (metadata: object) => parse(encodedWatchEvent('BOOKMARK', encodedBookmark(metadata)));
    expect(bookmark({ resourceVersion: '8' })).toEqual({
      kind: 'event',
      event: { type: 'BOOKMARK', resourceVersion: '8' },
    });
    expect(bookmark({ resourceVersion: '8', annotations: { 'k8s.io/initial-events-end': 'true' } })).toMatchObject({
      event: { initialEventsEnd: true },
    });
  });

  it('parses an error with its Status', () => {
    const status = encodedStatus({ message: 'too old', reason: 'Expired', code: 410 });
    expect(parse(encodedWatchEvent('ERROR', status))).toMatchObject({
      kind: 'error',
      error: { message: 'too old', reason: 'Expired', status: 410, kind: 'gone' },
    });
  });

  it.each([
    ['an object without metadata', encodedWatchEvent('ADDED', encodedSlice({ addressType: 'IPv4' })), 'no metadata'],
    ['an unknown event type', encodedWatchEvent('MOVED', encodedSlice(slice)), 'unknown event type "MOVED"'],
    ['JSON', Buffer.from('{"type":"ADDED"}'), 'invalid protobuf: '],
    ['an empty frame', Buffer.alloc(0), 'invalid protobuf: '],
  ])('skips %s and says why', (_, frame, why) => {
    expect(parse(frame)).toMatchObject({ kind: 'skipped', skipped: { why: expect.stringContaining(why) } });
  });
});
