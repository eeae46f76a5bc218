import { traceIdOf } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance, type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { Indexer } from './indexer.ts';
import { PublishedState } from './published-state.ts';
import { Publisher, type PublisherOptions } from './publisher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { aPod, aService } from './testing/objects.ts';
import { SamplingTracer } from './testing/sampling-tracer.ts';

let clock: VirtualClock;
let indexer: Indexer;
let bus: GatedBus;
let logger: RecordingLogger;
let publisher: Publisher;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  indexer = new Indexer();
  bus = new GatedBus();
  logger = recordingLogger();
  start();
});

function start(given: Partial<PublisherOptions> = {}): void {
  indexer.resourceVersions.set('endpoints', '3').set('endpointslices', '4');
  const ports = { clock, random: seededRandom(1), logger };
  publisher = new Publisher({ cluster: 'c', fencingToken: 7, bus, indexer, ...ports, ...given });
}

async function publish(...services: string[]): Promise<void> {
  for (const name of services) {
    indexer.setService(aService(name));
    publisher.markDirty('shop', name, { kind: 'service' });
  }
  await advance(clock, 0);
}

const published = () => bus.changes.splice(0).map(({ key }) => key.service);

test('an append has a limited number of Services, the longest dirty first', async () => {
  const services = Array.from({ length: 130 }, (_, i) => `web-${i}`);
  await publish(...services);
  expect(bus.tries.map(({ length }) => length)).toEqual([64, 64, 2]);
  expect(published()).toEqual(services);
});

describe('a Service with an object that cannot be decoded', () => {
  beforeEach(async () => {
    await publish('web', 'db');
    published();
    indexer.deleteService('shop', 'web');
    indexer.addUndecodable('services', 'shop', 'web');
  });

  test('is not published, which keeps back no other Service', async () => {
    publisher.markDirty('shop', 'web', { kind: 'pod', name: 'p' });
    publisher.markDirty('shop', 'db', { kind: 'service' });
    await advance(clock, 0);
    expect(logger.fields('warn')).toEqual([{ service: 'shop/web' }]);
    const { length } = bus.tries;
    publisher.markDirty('shop', 'web', { kind: 'pod', name: 'q' });
    await advance(clock, 0);
    expect(published()).toEqual(['db']);
    expect(bus.tries).toHaveLength(length);
    expect(logger.fields('warn')).toEqual([{ service: 'shop/web' }]);
  });

  test('is published as a snapshot once it is valid, as if the watcher had just started, and then as usual', async () => {
    publisher.markDirty('shop', 'web', { kind: 'service' });
    await advance(clock, 0);
    indexer.apply({
      ...{ resource: 'services', type: 'modified', namespace: 'shop', name: 'web' },
      ...{ oldObject: undefined, newObject: aService('web'), observedAt: 1 },
    });
    for (const name of ['p', 'q']) {
      indexer.setPod(aPod(name, { app: 'web' }));
      publisher.markDirty('shop', 'web', { kind: 'pod', name });
      await advance(clock, 0);
    }
    expect(bus.changes.map(({ snapshot }) => snapshot?.initial)).toEqual([true, undefined]);
    expect(bus.changes.map(({ facts }) => facts.map(({ kind }) => kind))).toEqual([
      ['service', 'topology', 'pod'],
      ['pod'],
    ]);
  });
});

test('delivery within the process begins after a Change is in the log, not after one that is withheld', async () => {
  bus.delivers = true;
  indexer.addUndecodable('services', 'shop', 'web');
  publisher.markDirty('shop', 'web', { kind: 'pod', name: 'p' });
  await advance(clock, 0);
  await publish('db');
  expect([published(), bus.delivered]).toEqual([['db'], []]);
  await publish('db');
  expect([published(), bus.delivered.length]).toEqual([[], 1]);
});

test('without a store nothing awaits a checkpoint', async () => {
  await publish('web');
  expect(publisher.awaitingCheckpoint).toBe(0);
});

describe('publishing ends', () => {
  test('silently when a newer watcher has taken over', async () => {
    const store = new MemoryStore();
    const claim = (fencingToken: number) =>
      PublishedState.claim({ store, cluster: 'c', fencingToken, clock, random: seededRandom(1), logger });
    const publishedState = await claim(7);
    start({ publishedState });
    await publish('web');
    await publisher.checkpoint(true);
    published();
    await claim(8);
    logger.lines.length = 0;
    await publish('web');
    await advance(clock, 1_000);
    await publisher.idle();
    expect(published()).toEqual([]);
    expect(publishedState.fenced.aborted).toBe(true);
    expect(logger.fields('error')).toEqual([]);
  });

  test('with an error when the log loses what was delivered', async () => {
    bus.delivers = true;
    await publish('web');
    bus.deliver = () => Promise.reject(new Error('the log is full'));
    await publish('web');
    expect(logger.fields('error')).toMatchObject([
      { topic: 'changes', partition: 0, error: { message: 'the log is full' } },
    ]);
  });

  test('when the watcher is closed, also for what is marked later', async () => {
    publisher.close();
    await publish('web');
    expect([published(), [...publisher.published]]).toEqual([[], []]);
  });
});

describe('idle', () => {
  test('waits for the log', async () => {
    bus.shut = true;
    await publish('web');
    let isIdle = false;
    void publisher.idle().then(() => {
      isIdle = true;
    });
    await advance(clock, 0);
    expect(isIdle).toBe(false);
    bus.open();
    await advance(clock, 0);
    expect(isIdle).toBe(true);
  });

  test('has the log store what was delivered, and waits for it', async () => {
    bus.delivers = true;
    await publish('web');
    await publish('web');
    let [isFlushed, isIdle] = [false, false];
    const flush = bus.flush.bind(bus);
    bus.flush = () => {
      isFlushed = true;
    };
    void publisher.idle().then(() => {
      isIdle = true;
    });
    await advance(clock, 0);
    expect([isFlushed, isIdle]).toEqual([true, false]);
    flush();
    await advance(clock, 0);
    expect(isIdle).toBe(true);
  });
});

describe('a trace', () => {
  let tracer: SamplingTracer;
  let headers: (string | undefined)[];

  beforeEach(async () => {
    tracer = new SamplingTracer();
    headers = [];
    const append = bus.append.bind(bus);
    bus.append = async (topic, partition, records) => {
      headers.push(...records.map((record) => record.headers.traceparent));
      return append(topic, partition, records);
    };
    start({ tracer });
  });

  const markPod = (name: string, cause = true) =>
    publisher.markDirty(
      'shop',
      'web',
      { kind: 'pod', name },
      cause ? { description: `Pod ${name} added`, observedAt: 900 } : undefined,
    );

  test('is carried by the Change of its first cause, and recorded once the log has the Change', async () => {
    bus.shut = true;
    indexer.setService(aService('web'));
    markPod('p');
    markPod('q');
    await advance(clock, 0);
    expect(tracer.spans).toEqual([]);
    bus.open();
    await advance(clock, 0);
    expect(tracer.spans.map(({ name }) => name)).toEqual(['watch Pod', 'watch Pod', 'publish changes']);
    expect(headers.map((text) => text && traceIdOf(text))).toEqual([traceIdOf(tracer.spans[0]?.context ?? '')]);
  });

  test('starts with no watch echo that another change comes before', async () => {
    indexer.setService(aService('web'));
    markPod('p');
    const echo = { kind: 'endpoints', uid: 'u', isWatchEcho: true } as const;
    publisher.markDirty('shop', 'web', echo, { description: 'Endpoints web changed', observedAt: 901 });
    await advance(clock, 0);
    expect(tracer.spans.map(({ name }) => name)).toEqual(['watch Pod', 'publish changes']);
  });

  test('starts with a cause only', async () => {
    indexer.setService(aService('web'));
    markPod('p', false);
    await advance(clock, 0);
    expect([headers, tracer.spans]).toEqual([[undefined], []]);
  });

  test('is carried by the last part of a snapshot, which leads to a decision', async () => {
    bus.limits = { recordBytes: 2_000, messageBytes: 10_000 };
    indexer.setService(aService('web'));
    for (let i = 0; i < 20; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
    markPod('p0');
    await advance(clock, 0);
    expect(headers.length).toBeGreaterThan(1);
    expect(headers.map((text) => text !== undefined)).toEqual(headers.map((_, i) => i === headers.length - 1));
    expect(tracer.spans.at(-1)?.attributes).toMatchObject({ 'messaging.message.id': bus.tries.flat().at(-1) });
  });
});
