import { expect, it } from 'vitest';
import { TextTable } from './protobuf/index.ts';
import { encodedBookmark, encodedSlice, encodedStatus, encodedWatchEvent } from './protobuf/testing/fixtures.ts';
import { parseWatchFrame } from './watch-frame.ts';

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
