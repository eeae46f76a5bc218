import { expect, it } from 'vitest';
import { one, stringMap, text, wholeMessage } from './message-type.ts';
import { encoded, eventOf } from './testing.ts';
import { TextTable } from './text-table.ts';
import { statusType, writtenTypes } from './types.ts';
import { parseWatchFrame } from './watch-frame.ts';

const parse = (frame: Buffer) => parseWatchFrame('endpointslices', frame, new TextTable(), 0);
const slice = { metadata: { name: 's', namespace: 'ns', resourceVersion: '7' }, addressType: 'IPv4' };

it('tells of an object', () => {
  const object = { ...slice, endpoints: null, ports: null };
  expect(parse(eventOf('MODIFIED', encoded(writtenTypes.endpointslices, slice)))).toEqual({
    kind: 'event',
    event: { type: 'MODIFIED', object },
  });
});

it('tells of a bookmark, and whether it closes the first events', () => {
  const type = wholeMessage({
    1: one('metadata', wholeMessage({ 6: text('resourceVersion'), 12: stringMap('annotations') })),
  });
  const bookmark = (metadata: object) => parse(eventOf('BOOKMARK', encoded(type, { metadata })));
  expect(bookmark({ resourceVersion: '8' })).toEqual({
    kind: 'event',
    event: { type: 'BOOKMARK', resourceVersion: '8' },
  });
  expect(bookmark({ resourceVersion: '8', annotations: { 'k8s.io/initial-events-end': 'true' } })).toMatchObject({
    event: { initialEventsEnd: true },
  });
});

it('tells of an error with what its Status says', () => {
  const status = encoded(statusType, { message: 'too old', reason: 'Expired', code: 410 });
  expect(parse(eventOf('ERROR', status))).toMatchObject({
    kind: 'error',
    error: { message: 'too old', reason: 'Expired', status: 410, reaction: 'gone' },
  });
});

it.each([
  ['no name', eventOf('ADDED', encoded(writtenTypes.endpointslices, { addressType: 'IPv4' })), 'it has no metadata'],
  [
    'an event that is not known',
    eventOf('MOVED', encoded(writtenTypes.endpointslices, slice)),
    'an event of type "MOVED" is not known',
  ],
  ['bytes that are none', Buffer.from('{"type":"ADDED"}'), 'it is no protobuf: '],
  ['an empty frame', Buffer.alloc(0), 'it is no protobuf: '],
])('leaves out %s, and says why', (_, frame, why) => {
  expect(parse(frame)).toMatchObject({ kind: 'skipped', skipped: { why: expect.stringContaining(why) } });
});
