import { describe, expect, it } from 'vitest';
import { parseWatchLine } from './watch-line.ts';

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
