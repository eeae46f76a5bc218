import { isOlderVersion } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EventHandler, Router } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import { Informer, listSemaphore } from './informer.ts';
import { rawPod, rawService } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

describe('informer', () => {
  let clock: VirtualClock;
  let reader: ScriptedReader;
  let indexer: Indexer;
  let informer: Informer;
  let stop: AbortController;
  let running: Promise<void>;
  let calls: string[];

  beforeEach(async () => {
    clock = new VirtualClock(1_000_000);
    reader = new ScriptedReader();
    indexer = new Indexer();
    stop = new AbortController();
    calls = [];
    informer = new Informer({
      ...{ reader, clock, random: seededRandom(1), logger: silentLogger },
      indexer,
      handler: new EventHandler(indexer, new Router(indexer, () => {})),
      notOlderThan: () => '',
      onSynced: () => calls.push('synced'),
      onHistoryRestarted: (proof) => calls.push(proof),
      onRelisted: (resource) => calls.push(`${resource} relisted`),
    });
    reader.holds('services', [rawService('web')]);
    reader.holds('pods', [rawPod('web-1')]);
    running = informer.run(stop.signal);
    await advance();
  });

  afterEach(async () => {
    stop.abort();
    await running;
  });

  /** Long enough for a reflector to repeat a list that is too old until it accepts it. */
  async function advance(ms = 120_000): Promise<void> {
    const until = clock.now() + ms;
    do await new Promise((resolve) => setImmediate(resolve));
    while (clock.step(until));
  }

  test('nothing is handled after a list that proves that the history of the cluster restarted', async () => {
    expect(calls.splice(0)).toEqual(['synced']);
    reader.holds('services', [rawService('db', '3')], '5');
    reader.expire('services');
    await advance();
    expect(calls.splice(0)).toEqual(['services listed at 5 after 10']);

    reader.send('pods', { type: 'ADDED', object: rawPod('web-2', '11') });
    reader.send('pods', { type: 'DELETED', object: rawPod('web-1', '12') });
    reader.send('nodes', { type: 'BOOKMARK', resourceVersion: '20' });
    await advance();
    reader.holds('endpoints', [], '30');
    reader.expire('endpoints');
    await advance();

    expect(calls).toEqual([]);
    expect([...indexer.services.keys()]).toEqual(['shop/web']);
    expect([indexer.get('pods', 'shop', 'web-1') !== undefined, indexer.get('pods', 'shop', 'web-2')]).toEqual([
      true,
      undefined,
    ]);
    expect([informer.resourceVersion('services'), informer.resourceVersion('pods')]).toEqual(['10', '10']);
  });

  test('events and bookmarks advance the version of their resource, and never set it back', async () => {
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '15') });
    reader.send('nodes', { type: 'BOOKMARK', resourceVersion: '20' });
    await advance();
    expect(['pods', 'nodes', 'services'].map((resource) => informer.resourceVersion(resource as 'pods'))).toEqual([
      '15',
      '20',
      '10',
    ]);
    expect(isOlderVersion(informer.resourceVersion('pods'), '10')).toBe(false);
  });
});

async function queue(clusters: number, renewMs?: number) {
  const clock = new VirtualClock();
  const semaphore = listSemaphore(clock);
  let started = 0;
  for (let i = 0; i < clusters; i++) {
    void semaphore.acquire(new AbortController().signal).then((permit) => {
      started += 1;
      const renew = () => {
        permit.renew();
        if (renewMs !== undefined) clock.schedule(renewMs, renew);
      };
      renew();
    });
  }
  await advance(clock, 0);
  return { clock, started: () => started };
}

test('eight clusters are listed at once', async () => {
  const { started } = await queue(20);
  expect(started()).toBe(8);
});

test('a cluster whose API server sends nothing for two seconds delays no other', async () => {
  const { clock, started } = await queue(20);
  await advance(clock, 1_999);
  expect(started()).toBe(8);
  await advance(clock, 1);
  expect(started()).toBe(16);
});

test('a cluster that keeps sending delays no other for more than half a minute', async () => {
  const { clock, started } = await queue(9, 1_000);
  await advance(clock, 29_999);
  expect(started()).toBe(8);
  await advance(clock, 1);
  expect(started()).toBe(9);
});
