import { recordingLogger } from '@sluice/platform/testing';
import { describe, expect, test } from 'vitest';
import type { RawObject, SkippedObject, WatchEvent } from './cluster.ts';
import { ListBudget } from './list-budget.ts';
import {
  bookmark,
  error,
  event,
  nameOf,
  page,
  pod,
  reflect,
  scripted,
  type WatchScript,
} from './testing/scripted-reader.ts';

const end = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: true });
const refuse = (object: RawObject) => {
  if (nameOf(object).startsWith('bad')) throw new Error('it has no spec');
  return object;
};

describe('the status of a reflector', () => {
  test('has the time of the last response or event', async () => {
    const lists = [error('retry', 503, { retryAfterMs: 60_000 }), page([], '10')];
    expect((await reflect(scripted(lists, []))).status.lastHeardMs).toBe(60_000);
    const watches: WatchScript[] = [
      [[bookmark('11')], error('retry', 0, { retryAfterMs: 60_000 })],
      [[], 'silence'],
    ];
    expect((await reflect(scripted([page([], '10')], watches))).status).toMatchObject({
      ...{ lastHeardMs: 60_000, resourceVersion: '11', errors: 1 },
    });
  });

  test('has no resourceVersion before the first list is complete', async () => {
    const { status } = await reflect(scripted([page([], '10', 'next'), error('terminal', 403)], []), {}, 1);
    expect(status).toMatchObject({ state: 'retrying', resourceVersion: '', lists: 0 });
  });

  test('counts a list that was streamed', async () => {
    const watches: WatchScript[] = [[[event('ADDED', 'a', '3'), end('10')], [bookmark('11')], 'silence']];
    const { status } = await reflect(scripted([], watches), { watchList: true });
    expect(status).toMatchObject({ state: 'watching', resourceVersion: '11', lists: 1, errors: 0 });
  });

  test('counts malformed and outdated events of a streamed list and of its watch', async () => {
    const initial = [event('ADDED', 'bad1', '3'), end('10'), event('ADDED', 'bad2', '11'), event('ADDED', 'a', '11')];
    const skipped: SkippedObject[] = [];
    const { status, told } = await reflect(scripted([], [[initial, [event('ADDED', 'b', '5')], 'silence']]), {
      ...{ watchList: true, decode: refuse, onSkipped: (object) => void skipped.push(object) },
    });
    expect(status).toMatchObject({ skipped: 2, outdated: 2, resourceVersion: '11' });
    expect(skipped.map(({ name, why }) => `${name}: ${why}`)).toEqual([
      ...['bad1: it has no spec', 'bad2: it has no spec'],
    ]);
    // The sink gets no batch of which nothing is left.
    expect(told).toEqual(['[listing]', 'replace  @10', '[watching]']);
  });
});

describe('a list', () => {
  test('has pages of the size given', async () => {
    const { asked } = await reflect(scripted([page([], '10')], []), { pageSize: 7 });
    expect(asked[0]).toBe('0 list 7');
  });

  test('delivers objects that the reader passes on one by one, and those that it returns', async () => {
    const script = scripted([page([pod('b', '2')], '10')], []);
    const { list } = script.cluster;
    script.cluster.list = (resource, options, signal) => {
      if (options.limit > 1) options.onItem?.(pod('a', '1'));
      return list(resource, options, signal);
    };
    expect((await reflect(script)).told).toContain('replace a b @10');
  });

  test('counts what is kept of its objects, and those of its watch', async () => {
    const listBudget = new ListBudget(1_024 * 1_024);
    await reflect(scripted([page([pod('a', '1')], '10')], []), { listBudget });
    const listed = listBudget.bytes.get('pods');
    expect(listed).toBeGreaterThan(0);
    const streamed = new ListBudget(1_024 * 1_024);
    const watches: WatchScript[] = [[[event('ADDED', 'a', '1'), end('10')], 'silence']];
    await reflect(scripted([], watches), { listBudget: streamed, watchList: true });
    expect(streamed.bytes.get('pods')).toBe(listed);
  });

  test('with too many pages fails', async () => {
    const endless = Array.from({ length: 20_001 }, (_, n) => page([], '10', `${n}`));
    const reasons: string[] = [];
    const options = {
      listBudget: new ListBudget(1_024),
      onError: ({ reason }: { reason: string }) => void reasons.push(reason),
    };
    await reflect(scripted(endless, []), options, 1);
    expect(reasons).toEqual(['ListTooLarge']);
  });
});

describe('the log of failures', () => {
  const levels = async (failure: ReturnType<typeof error>, observed: boolean) => {
    const logger = recordingLogger();
    const lists = [failure, page([], '10')];
    await reflect(scripted(lists, []), { logger, onError: observed ? () => {} : undefined } as never);
    return logger.lines.map(({ level }) => level);
  };

  test('does not repeat an outage that an observer reports', async () => {
    expect(await levels(error('retry', 503), false)).toEqual(['warn']);
    expect(await levels(error('retry', 503), true)).toEqual(['debug']);
    expect(await levels(error('terminal', 403), true)).toEqual(['warn']);
  });
});

describe('a WatchList', () => {
  test.each([400, 422])('that is refused with status %i is not tried again', async (status) => {
    const watches: WatchScript[] = [[error('terminal', status)], [error('gone', 410)], ['silence']];
    const { asked } = await reflect(scripted([page([], '10'), page([], '20')], watches), { watchList: true });
    expect(asked.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      ...['watch  with initial events', 'list 500', 'watch 10', 'list 500', 'watch 20'],
    ]);
  });

  test('that is refused in another way is tried again', async () => {
    const watches: WatchScript[] = [[error('terminal', 403)], [[end('10')], 'silence']];
    const { asked, status } = await reflect(scripted([], watches), { watchList: true });
    expect(asked).toHaveLength(2);
    expect(status).toMatchObject({ errors: 1, resourceVersion: '10' });
  });

  test('that fails after its initial events has not failed to list', async () => {
    const cut = (version: string): WatchScript => [[end(version)], error('gone', 410)];
    const watches: WatchScript[] = [cut('10'), cut('20'), cut('30'), [[end('40')], 'silence']];
    const { asked } = await reflect(scripted([], watches), { watchList: true });
    expect(asked.filter((line) => line.includes('list'))).toEqual([]);
  });

  test('that ends before its initial events are complete is retried later', async () => {
    const watches: WatchScript[] = [[[event('ADDED', 'a', '3')]], [[end('10')], 'silence']];
    const { asked, told } = await reflect(scripted([], watches), { watchList: true });
    expect(Number.parseFloat(asked[1] ?? '')).toBeGreaterThanOrEqual(200);
    expect(told).toContain('! later');
  });

  test('that ends early twice is replaced by a list in pages', async () => {
    const ended: WatchScript = [[event('ADDED', 'a', '3')]];
    const { asked } = await reflect(scripted([page([], '10')], [ended, ended, ['silence']]), { watchList: true });
    expect(asked.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      ...['watch  with initial events', 'watch  with initial events', 'list 500', 'watch 10'],
    ]);
  });

  test('that does not get as far as before is behind, like a list', async () => {
    const watches: WatchScript[] = [
      [[end('9')], 'silence'],
      [[end('51')], 'silence'],
    ];
    const { told } = await reflect(scripted([], watches), { watchList: true, notOlderThan: '50' });
    expect(told.filter((line) => line.startsWith('replace'))).toEqual(['replace  @51']);
  });
});

test('a watch that lasts without events is resumed at once', async () => {
  const script = scripted([page([], '10')], [[], ['silence']]);
  const { watch } = script.cluster;
  script.cluster.watch = async function* (...args) {
    script.clock.skipTo(script.clock.now() + 1_000);
    yield* watch(...args);
  };
  const { asked, status } = await reflect(script);
  expect(asked.slice(1)).toEqual(['1000 watch 10', '2000 watch 10']);
  expect(status.errors).toBe(0);
});

test('a failure after a recovery counts as the first', async () => {
  const down = Array.from({ length: 8 }, (): WatchScript => [error('retry', 0)]);
  const recovered: WatchScript = [[event('ADDED', 'a', '11')], error('retry', 0)];
  const { asked } = await reflect(scripted([page([], '10')], [...down, recovered, ['silence']]));
  const times = asked.map((line) => Number.parseFloat(line));
  expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBeLessThanOrEqual(400);
});
