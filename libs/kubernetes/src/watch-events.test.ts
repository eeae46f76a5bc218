import { beforeEach, describe, expect, test } from 'vitest';
import type { SkippedObject, WatchEvent } from './cluster.ts';
import { TextTable } from './protobuf/index.ts';
import { encodedBookmark, encodedWatchEvent, framed, sliceFrame } from './protobuf/testing/fixtures.ts';
import { eventsOfFrames, eventsOfLines, type WatchReading } from './watch-events.ts';

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
