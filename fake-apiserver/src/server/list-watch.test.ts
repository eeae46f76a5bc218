import { describe, expect, it } from 'vitest';
import { newServer, refusal, slice } from '../testing/fixtures.ts';
import type { Watch } from './watch.ts';

const addSlices = (server: ReturnType<typeof newServer>['server'], ...names: string[]) => {
  for (const name of names) server.create('endpointslices', slice(name));
};

const brief = (watch: Watch) =>
  watch
    .take()
    .map((event) => `${event.type} ${'name' in event.object.metadata ? event.object.metadata.name : ''}`.trim());

describe('list', () => {
  it('shows the state of the first page on all pages', () => {
    const { server } = newServer();
    addSlices(server, 'c', 'a', 'b', 'e', 'd');
    const first = server.list('endpointslices', { limit: 2 });
    server.delete('endpointslices', 'default', 'c');
    addSlices(server, 'bb');
    const second = server.list('endpointslices', { limit: 2, continueToken: first.continueToken });
    const third = server.list('endpointslices', { limit: 2, continueToken: second.continueToken });
    const pages = [first, second, third];
    expect(pages.map((page) => page.items.map((item) => item.metadata.name))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(new Set(pages.map((page) => page.resourceVersion)).size).toBe(1);
    expect(pages.map((page) => page.remainingItemCount)).toEqual([3, 1, undefined]);
    expect(third.continueToken).toBe('');
  });

  it('never ends with an empty page', () => {
    const { server } = newServer();
    addSlices(server, 'a', 'b');
    expect(server.list('endpointslices', { limit: 2 }).continueToken).toBe('');
    server.put('endpointslices', slice('z', { metadata: { namespace: 'other' } }));
    expect(server.list('endpointslices', { limit: 2, namespace: 'default' }).continueToken).toBe('');
  });

  it.each([
    ['compaction', (s: ReturnType<typeof newServer>) => s.server.compact()],
    ['five minutes', (s: ReturnType<typeof newServer>) => s.clock.step(s.clock.now() + 300_001)],
  ])('returns 410 for a page after %s', (_, pass) => {
    const made = newServer();
    addSlices(made.server, 'a', 'b');
    const { continueToken } = made.server.list('endpointslices', { limit: 1 });
    addSlices(made.server, 'c');
    pass(made);
    expect(refusal(() => made.server.list('endpointslices', { limit: 1, continueToken }))).toMatchObject({
      code: 410,
      reason: 'Expired',
    });
  });

  it('returns old state on all pages from a lagging server, as far as its log reaches', () => {
    const { server } = newServer();
    addSlices(server, 'a', 'b');
    server.delete('endpointslices', 'default', 'a');
    addSlices(server, 'c', 'd');
    const names = (behind: number, limit = 0, continueToken = '') =>
      server.list('endpointslices', { behind, limit, continueToken }).items.map((item) => item.metadata.name);
    expect([0, 1, 2, 3, 4].map((behind) => names(behind))).toEqual([
      ['b', 'c', 'd'],
      ['b', 'c'],
      ['b'],
      ['a', 'b'],
      ['a'],
    ]);
    const { continueToken, resourceVersion } = server.list('endpointslices', { behind: 3, limit: 1 });
    expect(Number(server.resourceVersion) - Number(resourceVersion)).toBe(3);
    expect(names(0, 1, continueToken)).toEqual(['b']);
    server.compact();
    expect(names(4)).toEqual(['b', 'c', 'd']);
  });

  it('returns 400 for an invalid token', () => {
    const { server } = newServer();
    expect(refusal(() => server.list('pods', { continueToken: 'nonsense' })).code).toBe(400);
  });
});

describe('watch', () => {
  it('sends the events after a resourceVersion, each with its own', () => {
    const { server } = newServer();
    addSlices(server, 'a');
    const { resourceVersion } = server;
    const watch = server.watch('endpointslices', { resourceVersion });
    addSlices(server, 'b');
    server.patch('endpointslices', 'default', 'a', { metadata: { labels: { x: 'y' } } });
    server.delete('endpointslices', 'default', 'b');
    server.create('endpoints', { metadata: { name: 'other' } });
    const from = Number(resourceVersion);
    expect(watch.take().map((e) => [e.type, (e.object as { metadata: object }).metadata])).toMatchObject([
      ['ADDED', { name: 'b', resourceVersion: String(from + 1) }],
      ['MODIFIED', { name: 'a', resourceVersion: String(from + 2) }],
      ['DELETED', { name: 'b', resourceVersion: String(from + 3) }],
    ]);
    expect(watch.take()).toEqual([]);
  });

  it.each(['', '0'])('starts with the current objects for resourceVersion %j', (resourceVersion) => {
    const { server } = newServer();
    addSlices(server, 'a', 'b');
    const watch = server.watch('endpointslices', { resourceVersion });
    addSlices(server, 'c');
    expect([...brief(watch), ...brief(watch)]).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
  });

  it('reports objects that start or stop matching as added or deleted', () => {
    const { server } = newServer();
    const labels = [{ key: 'app', operator: '=', value: 'web' }] as const;
    const watch = server.watch('endpointslices', { resourceVersion: server.resourceVersion, labels });
    addSlices(server, 'a');
    const label = (app: string | null) =>
      server.patch('endpointslices', 'default', 'a', { metadata: { labels: { app } } });
    label('web');
    server.patch('endpointslices', 'default', 'a', { metadata: { annotations: { x: 'y' } } });
    label('api');
    label(null);
    expect(brief(watch)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  it('waits for events using microtasks only', async () => {
    const { server } = newServer();
    const watch = server.watch('endpointslices', { resourceVersion: server.resourceVersion });
    const next = watch.next();
    addSlices(server, 'a', 'b');
    expect((await next)?.map((event) => event.type)).toEqual(['ADDED', 'ADDED']);
  });

  it('returns 410 when it starts before the window', () => {
    const { server } = newServer({ eventWindow: 4 });
    const { resourceVersion } = server;
    addSlices(server, 'a', 'b', 'c', 'd', 'e', 'f');
    expect(refusal(() => server.watch('endpointslices', { resourceVersion }))).toMatchObject({
      code: 410,
      reason: 'Expired',
    });
  });

  it('on a lagging server is rejected if it starts later, and starts with old state otherwise', () => {
    const { server } = newServer();
    addSlices(server, 'a', 'b');
    const { resourceVersion } = server;
    expect(() => server.watch('endpointslices', { resourceVersion, behind: 1 })).toThrow('Too large resource version');
    expect(brief(server.watch('endpointslices', { sendInitialEvents: true, behind: 1 }))).toEqual(['ADDED a']);
  });

  it('gets an ERROR with Status 410 and ends when it falls behind the window', async () => {
    const { server } = newServer({ eventWindow: 4 });
    const watch = server.watch('endpointslices', { resourceVersion: server.resourceVersion });
    addSlices(server, 'a', 'b', 'c', 'd', 'e', 'f');
    expect(await watch.next()).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410 } }]);
    expect(await watch.next()).toBeUndefined();
  });

  it('survives a compaction if it has read everything', () => {
    const { server } = newServer();
    const idle = server.watch('endpointslices', { resourceVersion: server.resourceVersion });
    const behind = server.watch('endpoints', { resourceVersion: server.resourceVersion });
    server.create('endpoints', { metadata: { name: 'other' } });
    server.compact();
    addSlices(server, 'a');
    expect(brief(idle)).toEqual(['ADDED a']);
    expect(brief(behind)).toEqual(['ERROR']);
  });

  it('sends bookmarks with the newest resourceVersion on request', () => {
    const { server, clock } = newServer();
    const { resourceVersion } = server;
    const asked = server.watch('endpointslices', { resourceVersion, allowBookmarks: true });
    const other = server.watch('endpointslices', { resourceVersion });
    addSlices(server, 'a');
    server.create('endpoints', { metadata: { name: 'other' } });
    clock.step();
    const bookmark = { kind: 'EndpointSlice', metadata: { resourceVersion: server.resourceVersion } };
    expect(asked.take()).toMatchObject([{ type: 'ADDED' }, { type: 'BOOKMARK', object: bookmark }]);
    expect(brief(other)).toEqual(['ADDED a']);
    asked.close();
    expect(clock.nextAt()).toBeUndefined();
  });

  it('marks the end of the initial events', () => {
    const { server } = newServer();
    addSlices(server, 'a');
    const watch = server.watch('endpointslices', { sendInitialEvents: true, allowBookmarks: true });
    expect(brief(watch)).toEqual(['ADDED a']);
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: server.resourceVersion, annotations };
    expect(watch.take()).toMatchObject([{ type: 'BOOKMARK', object: { metadata } }]);
  });

  it('ends after its timeout', async () => {
    const { server, clock } = newServer();
    const watch = server.watch('pods', { timeoutMs: 5000 });
    const next = watch.next();
    clock.step();
    expect(await next).toBeUndefined();
  });

  it('can be cut', async () => {
    const { server } = newServer();
    const reset = server.watch('pods').next();
    const ended = server.watch('services').next();
    expect(server.cutWatches('reset', 'pods')).toBe(1);
    expect(server.cutWatches('end')).toBe(1);
    await expect(reset).rejects.toMatchObject({ code: 'WATCH_RESET' });
    expect(await ended).toBeUndefined();
  });
});
