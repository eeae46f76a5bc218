import { recordingLogger } from '@sluice/platform/testing';
import { describe, expect, it } from 'vitest';
import type { ApiError } from './api-error.ts';
import type { RawObject, WatchEvent } from './cluster.ts';
import { ListBudget } from './list-budget.ts';
import {
  bookmark,
  error,
  event,
  malformed,
  nameOf,
  page,
  pod,
  reflect,
  scripted,
  type WatchScript,
} from './testing/scripted-reader.ts';

describe('Reflector', () => {
  it('lists in pages, delivers them as one state, and watches from the first page’s version', async () => {
    const first = page([pod('a', '1')], '10', 'next');
    const script = scripted([first, page([pod('b', '2')], '10')], [[[], [event('ADDED', 'c', '11')], 'silence']]);
    const { told, asked, status } = await reflect(script);
    expect(told).toEqual(['[listing]', 'replace a b @10', '[watching]', 'ADDED c']);
    expect(asked).toEqual(['0 list 500', '0 list 500 next', '0 watch 10']);
    expect(status).toMatchObject({ state: 'watching', resourceVersion: '11', lists: 1, errors: 0 });
  });

  describe('gives up, reports it and retries later, when the server never ends', () => {
    const endless = [...Array(50).keys()].map((i) => page([pod(`p${i}`.padEnd(100, 'x'), '1')], '10', `token-${i}`));
    const limited = () => {
      const failures: string[] = [];
      const onError = ({ reason, message }: ApiError) => void failures.push(`${reason}: ${message}`);
      return { failures, options: { listBudget: new ListBudget(4096), onError } };
    };
    const tooLarge = /^ListTooLarge: the list of pods is too large: the objects of this cluster need more than/;

    it('the pages of a list', async () => {
      const { failures, options } = limited();
      const { told, status } = await reflect(scripted(endless, []), options, 1);
      expect(failures).toEqual([expect.stringMatching(tooLarge)]);
      expect(told).toEqual(['[listing]', '[retrying]']);
      expect(status).toMatchObject({ lists: 0, errors: 1 });
    });

    it('the initial events of a watch', async () => {
      const { failures, options } = limited();
      const events = [...Array(50).keys()].map((i) => [event('ADDED', `p${i}`.padEnd(100, 'x'), '1')]);
      const { told } = await reflect(scripted([], [[[], ...events, 'silence']]), { ...options, watchList: true }, 1);
      expect(failures).toEqual([expect.stringMatching(tooLarge)]);
      expect(told).toEqual(['[listing]', '[retrying]']);
    });
  });

  it('resumes at once where a watch ended, bookmarks counted', async () => {
    const watches: WatchScript[] = [
      [[event('ADDED', 'a', '11')]],
      [[event('ADDED', 'b', '12'), bookmark('20')]],
      ['silence'],
    ];
    const { told, asked } = await reflect(scripted([page([], '10')], watches));
    expect(asked).toEqual(['0 list 500', '0 watch 10', '0 watch 11', '0 watch 20']);
    expect(told).toEqual(['[listing]', 'replace  @10', '[watching]', 'ADDED a', 'ADDED b, BOOKMARK 20']);
  });

  it('resumes after a cut connection without listing, a little later', async () => {
    const watches: WatchScript[] = [
      [[event('ADDED', 'a', '11')], error('retry', 0)],
      [[], 'silence'],
    ];
    const { told, asked } = await reflect(scripted([page([], '10')], watches));
    expect(asked).toEqual(['0 list 500', '0 watch 10', expect.stringMatching(/^[23]\d\d(\.\d+)? watch 11$/)]);
    expect(told.slice(3)).toEqual(['ADDED a', '! later', '[retrying]', '[watching]']);
  });

  it('lists again at once after 410, and replaces', async () => {
    const lists = [page([pod('a', '1')], '10'), page([pod('b', '30')], '30')];
    const { told, asked } = await reflect(scripted(lists, [[error('gone', 410)], ['silence']]));
    expect(asked).toEqual(['0 list 500', '0 watch 10', '0 list 500', '0 watch 30']);
    expect(told.filter((line) => line.startsWith('replace'))).toEqual(['replace a @10', 'replace b @30']);
  });

  it('lists at once when an outage ends in 410', async () => {
    const lists = [page([], '10'), page([], '30')];
    const watches: WatchScript[] = [[error('retry', 0)], [error('retry', 0)], [error('gone', 410)], ['silence']];
    const { asked } = await reflect(scripted(lists, watches));
    expect(asked[4]?.split(' ')).toEqual([asked[3]?.split(' ')[0], 'list', '500']);
  });

  it('lists soon when a long outage after a 410 ends in 410', async () => {
    const lists = [page([], '10'), page([], '20'), page([], '30')];
    const outage = Array.from({ length: 10 }, (): WatchScript => [error('retry', 0)]);
    const watches: WatchScript[] = [[error('gone', 410)], ...outage, [error('gone', 410)], ['silence']];
    const { asked } = await reflect(scripted(lists, watches));
    const [before = 0, after = 0] = asked.slice(-3).map((line) => Number.parseFloat(line));
    expect(after - before).toBeLessThan(500);
    expect(asked.at(-1)).toMatch(/watch 30$/);
  });

  it('does not list without pause when 410 comes again and again', async () => {
    const lists = Array.from({ length: 5 }, (_, i) => page([], `${10 + i}`));
    const watches = Array.from({ length: 4 }, (): WatchScript => [error('gone', 410)]);
    const { asked } = await reflect(scripted(lists, [...watches, ['silence']]));
    const times = asked.filter((line) => line.includes('list')).map((line) => Number.parseFloat(line));
    expect(times[1]).toBe(0);
    expect(times[4]).toBeGreaterThan(1_500);
  });

  it('lists at once after 410 again when the watch has recovered in between', async () => {
    const lists = [page([], '10'), page([], '20'), page([], '30')];
    const watches: WatchScript[] = [
      [error('gone', 410)],
      [[event('ADDED', 'a', '21')], error('gone', 410)],
      ['silence'],
    ];
    const { asked } = await reflect(scripted(lists, watches));
    expect(asked).toEqual(['0 list 500', '0 watch 10', '0 list 500', '0 watch 20', '0 list 500', '0 watch 30']);
  });

  it('asks for pages again when a list in one page is complete, and when the first page was refused', async () => {
    const one = page([pod('a', '1')], '12');
    const lists = [page([], '10', 'next'), error('gone', 410), one, error('gone', 410), page([], '40')];
    const { asked } = await reflect(scripted(lists, [[error('gone', 410)], ['silence']]));
    const listed = asked.filter((line) => line.includes('list')).map((line) => line.replace(/^\S+ /, ''));
    expect(listed).toEqual(['list 500', 'list 500 next', 'list 1000000000', 'list 500', 'list 500']);
  });

  it('asks for all in one page when the pages expire while they are fetched', async () => {
    const lists = [page([pod('a', '1')], '10', 'next'), error('gone', 410), page([pod('a', '1'), pod('b', '2')], '12')];
    const { told, asked } = await reflect(scripted(lists, []));
    expect(asked.slice(0, 3)).toEqual(['0 list 500', '0 list 500 next', '0 list 1000000000']);
    expect(told).toContain('replace a b @12');
    expect(told.filter((line) => line.startsWith('replace'))).toHaveLength(1);
  });

  it('backs off exponentially while the server is down, no longer than half a minute, and keeps its place', async () => {
    const down = Array.from({ length: 12 }, (): WatchScript => [error('retry', 0)]);
    const { asked, status } = await reflect(scripted([page([], '10')], [...down, ['silence']]));
    const times = asked.slice(1).map((line) => Number.parseFloat(line));
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(asked.at(-1)).toContain('watch 10');
    expect(waits[0]).toBeLessThanOrEqual(400);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(15_000);
    expect(status).toMatchObject({ state: 'retrying', errors: 12, lists: 1 });
  });

  it('waits as long as the server asks', async () => {
    const lists = [error('retry', 429, { retryAfterMs: 77_000 }), page([], '10')];
    const { asked } = await reflect(scripted(lists, []));
    expect(asked[1]).toBe('77000 list 500');
  });

  it('retries slowly after a rejection', async () => {
    const { asked } = await reflect(scripted([error('terminal', 403), page([], '10')], []));
    expect(Number.parseFloat(asked[1] ?? '')).toBeGreaterThanOrEqual(2_500);
  });

  it('pauses before it asks a server again that ends watches at once', async () => {
    const { asked } = await reflect(scripted([page([], '10')], [[], [], ['silence']]));
    expect(Number.parseFloat(asked[2] ?? '')).toBeGreaterThanOrEqual(200);
    expect(asked[3]).toContain('watch 10');
  });

  it('drops what is not newer than what it delivered', async () => {
    const batch = [event('MODIFIED', 'a', '9'), event('MODIFIED', 'a', '10'), event('MODIFIED', 'a', '11')];
    const { told, status } = await reflect(scripted([page([pod('a', '10')], '10')], [[batch, 'silence']]));
    expect(told.at(-1)).toBe('MODIFIED a');
    expect(status).toMatchObject({ outdated: 2, resourceVersion: '11' });
  });

  it('waits for the sink before it reads on', async () => {
    let running = 0;
    const order: string[] = [];
    const slow = async (what: string) => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      order.push(what);
    };
    const sink = { replace: () => slow('replace'), apply: () => slow('apply') };
    const watches: WatchScript[] = [[[event('ADDED', 'a', '11')], [event('ADDED', 'b', '12')], 'silence']];
    const script = scripted([page([], '10')], watches);
    const timer = { at: 0 };
    // Keep the clock busy, so that the test runs until the sink is done.
    const rearm = () => timer.at++ < 20 && script.clock.schedule(1, rearm);
    rearm();
    await reflect(script, { sink });
    expect(order).toEqual(['replace', 'apply', 'apply']);
  });

  it('ends with the error that the sink throws', async () => {
    const sink = { replace: () => Promise.reject(new Error('full')), apply: () => {} };
    await expect(reflect(scripted([page([], '10')], []), { sink })).rejects.toThrow('full');
  });

  it('skips malformed objects, logs their names and continues', async () => {
    const logger = recordingLogger();
    const decode = (object: RawObject) => {
      if (nameOf(object).startsWith('bad')) throw new Error('it has no spec');
      return object;
    };
    const batch = [event('ADDED', 'bad2', '11'), event('ADDED', 'b', '12')];
    const script = scripted([page([pod('a', '1'), pod('bad1', '2')], '10')], [[batch, { skipped: 'bad3' }, 'silence']]);
    const { told, status } = await reflect(script, { decode, logger });
    expect(told).toEqual(['[listing]', 'replace a @10', '[watching]', 'ADDED b']);
    expect(status.skipped).toBe(3);
    expect(logger.fields('warn')).toEqual(['bad1', 'bad2', 'bad3'].map((name) => ({ ...malformed, name })));
  });
});

describe('Reflector and the past', () => {
  it('does not deliver a list that is older than what was delivered before a restart', async () => {
    const lists = [page([pod('a', '1')], '10'), page([pod('b', '1')], '51')];
    const { told } = await reflect(scripted(lists, []), { notOlderThan: '50' });
    expect(told.filter((line) => line.startsWith('replace'))).toEqual(['replace b @51']);
  });

  it('believes it when it stays so: the cluster was restored from a backup', async () => {
    const lists = Array.from({ length: 8 }, () => page([pod('a', '1')], '10'));
    const { told, asked } = await reflect(scripted(lists, [['silence']]), { notOlderThan: '50' });
    expect(asked.filter((line) => line.includes('list'))).toHaveLength(7);
    expect(told).toContain('replace a @10');
  });

  it('lists again when the cluster has an older version after a lost connection, and does not watch', async () => {
    const lists = [page([pod('a', '50')], '50'), ...Array.from({ length: 8 }, () => page([pod('b', '1')], '10'))];
    const script = scripted(lists, [[error('retry', 0)], ['silence']], '10');
    const { told, asked } = await reflect(script);
    expect(asked.filter((line) => line.includes('watch')).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'watch 50',
      'watch 10',
    ]);
    expect(told).toContain('replace b @10');
  });

  it('finds out soon that a cluster was restored, however long it did not answer', async () => {
    const outage = Array.from({ length: 20 }, () => error('retry', 0));
    const lists = [page([], '50'), ...outage, ...Array.from({ length: 8 }, () => page([pod('b', '1')], '10'))];
    const script = scripted(lists, [[error('gone', 410)], ['silence']], '10');
    const times: number[] = [];
    const { told } = await reflect(
      script,
      { onError: ({ reason }) => reason === 'StaleList' && times.push(script.clock.now()) },
      200,
    );
    expect(told).toContain('replace b @10');
    expect(times).toHaveLength(6);
    // Not 30 s each, as after so many failures.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(10_000);
  });

  it('waits after a refusal as after the first one, however long the cluster did not answer', async () => {
    const outage = Array.from({ length: 10 }, () => error('retry', 0));
    const lists = [...outage, error('terminal', 403), page([], '10')];
    const waits = new Map<number, number>();
    await reflect(scripted(lists, []), { onError: ({ status }, retryInMs) => void waits.set(status, retryInMs) });
    expect(waits.get(403)).toBeGreaterThan(1_000);
    expect(waits.get(403)).toBeLessThanOrEqual(5_000);
  });

  it('lists again when a bookmark is behind', async () => {
    const lists = [page([], '50'), page([pod('a', '60')], '60')];
    const { told } = await reflect(scripted(lists, [[[bookmark('12')]], ['silence']]));
    expect(told).toContain('replace a @60');
  });

  it('lists again when watches open but stay silent', async () => {
    const silent: WatchScript = [[], error('retry', 0, { reason: 'Timeout' })];
    const lists = [page([], '50'), page([pod('a', '60')], '60')];
    const { asked } = await reflect(scripted(lists, [silent, silent, ['silence']]));
    expect(asked.map((line) => line.split(' ').slice(1).join(' '))).toEqual([
      'list 500',
      'watch 50',
      'watch 50',
      'list 500',
      'watch 60',
    ]);
  });
});

describe('a silent watch', () => {
  const silent: WatchScript = [[], error('retry', 0, { reason: 'Timeout' })];
  const listsOf = (asked: readonly string[]) => asked.filter((line) => line.includes('list')).length;

  it('does not count together with one before an event', async () => {
    const watches: WatchScript[] = [silent, [[event('ADDED', 'a', '51')]], silent, ['silence']];
    const { asked } = await reflect(scripted([page([], '50')], watches));
    expect([listsOf(asked), asked.length]).toEqual([1, 5]);
  });

  it.each<[string, WatchScript]>([
    ['did not open', [error('retry', 0, { reason: 'Timeout' })]],
    ['was cut', [[], error('retry', 0)]],
    ['sent a bookmark', [[bookmark('51')], error('retry', 0, { reason: 'Timeout' })]],
  ])('is none if it %s', async (_, watch) => {
    const { asked } = await reflect(scripted([page([], '50')], [watch, watch, watch, ['silence']]));
    expect(listsOf(asked)).toBe(1);
  });
});

describe('Reflector with WatchList', () => {
  const end = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: true });

  it('reads the initial state from the watch and continues it', async () => {
    const initial = [event('ADDED', 'a', '3'), event('ADDED', 'b', '1'), event('DELETED', 'b', '8')];
    const watches: WatchScript[] = [
      [[], initial, [event('ADDED', 'c', '9'), end('10'), event('MODIFIED', 'a', '11')], [event('DELETED', 'c', '12')]],
      ['silence'],
    ];
    const { told, asked } = await reflect(scripted([], watches), { watchList: true });
    expect(told).toEqual(['[listing]', 'replace a c @10', '[watching]', 'MODIFIED a', 'DELETED c']);
    expect(asked).toEqual(['0 watch  with initial events', '0 watch 12']);
  });

  it('goes back to pages where the server does not know it', async () => {
    const script = scripted([page([pod('a', '1')], '10')], [[error('terminal', 422)], ['silence']]);
    const { told, asked, status } = await reflect(script, { watchList: true });
    expect(asked).toEqual(['0 watch  with initial events', '0 list 500', '0 watch 10']);
    expect(told).toContain('replace a @10');
    expect(status.errors).toBe(0);
  });

  it('goes back to pages where a server is so old that it takes no notice: it marks no end', async () => {
    const watches: WatchScript[] = [[[event('ADDED', 'a', '3')], [bookmark('9')], 'silence'], ['silence']];
    const { told, asked } = await reflect(scripted([page([pod('a', '1')], '10')], watches), { watchList: true });
    expect(asked).toEqual(['0 watch  with initial events', '0 list 500', '0 watch 10']);
    expect(told).toContain('replace a @10');
  });

  it('lists in pages once when the first state breaks off twice', async () => {
    const broken: WatchScript = [[event('ADDED', 'a', '3')], error('retry', 0)];
    const watches: WatchScript[] = [broken, broken, [error('gone', 410)], [[end('20')], 'silence']];
    const { asked } = await reflect(scripted([page([], '10')], watches), { watchList: true });
    expect(asked.map((line) => line.split(' ').slice(1).join(' ').trim())).toEqual([
      'watch  with initial events',
      'watch  with initial events',
      'list 500',
      'watch 10',
      'watch 10 with initial events',
    ]);
  });

  it('asks for nothing older than what was delivered, until it is clear that the server will not come so far', async () => {
    const behind = error('retry', 504);
    const lists = Array.from({ length: 10 }, () => page([], '10'));
    const script = scripted(lists, [[behind], [behind], [[], 'silence']]);
    const { told, asked } = await reflect(script, { watchList: true, notOlderThan: '50' });
    expect(asked.slice(0, 3).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'watch 50 with initial events',
      'watch 50 with initial events',
      'list 500',
    ]);
    // Two refusals and four stale lists; the next one is believed.
    expect(asked.filter((line) => line.includes('list'))).toHaveLength(5);
    expect(told).toContain('replace  @10');
  });

  it('delivers nothing of a first state that broke off', async () => {
    const watches: WatchScript[] = [[[event('ADDED', 'a', '3')]], [[event('ADDED', 'b', '4'), end('10')], 'silence']];
    const { told } = await reflect(scripted([], watches), { watchList: true });
    expect(told.filter((line) => line.startsWith('replace'))).toEqual(['replace b @10']);
  });
});
