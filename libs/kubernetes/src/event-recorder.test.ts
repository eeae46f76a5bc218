import type { EventToRecord } from '@sluice/model';
import { type Logger, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import type { EventObject } from './event-object.ts';
import { EventRecorder, type EventStore } from './event-recorder.ts';

const event = (message: string): EventToRecord => ({
  type: 'Warning',
  reason: 'R',
  message,
  regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'u' },
});

let clock: VirtualClock;
let created: EventObject[];
let patched: { readonly name: string; readonly patch: unknown }[];
let failures: Error[];

const store: EventStore = {
  async createEvent(object) {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    created.push(object);
  },
  async patchEvent(_namespace, name, patch) {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    patched.push({ name, patch });
  },
};

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  created = [];
  patched = [];
  failures = [];
});

function given(logger: Logger = silentLogger, to: EventStore = store): EventRecorder {
  return new EventRecorder({ store: to, clock, random: seededRandom(1), logger });
}

async function settle(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step());
}

const error = (kind: ApiError['kind'], status: number) => new ApiError('no', { kind, status, reason: 'No' });

describe('event recorder', () => {
  test('creates an Event, and counts it up when it happens again', async () => {
    const recorder = given();
    recorder.record(event('a'), 'endpoint-slice-controller');
    await settle();
    recorder.record(event('a'), 'endpoint-slice-controller');
    await settle();
    expect(created).toMatchObject([
      { metadata: { namespace: 'shop' }, source: { component: 'endpoint-slice-controller' }, message: 'a', count: 1 },
    ]);
    expect(patched).toMatchObject([{ name: created[0]?.metadata.name, patch: { count: 2, message: 'a' } }]);
  });

  test('an Event about an object without namespace is created in the namespace default (J1)', async () => {
    given().record({ ...event('a'), regarding: { kind: 'Endpoints', namespace: '', name: 'web' } }, 'c');
    await settle();
    expect(created).toMatchObject([{ metadata: { namespace: 'default' }, involvedObject: { namespace: '' } }]);
  });

  test.each([
    ['info', 'endpoint-slice-controller'],
    ['info', 'endpoint-slice-mirroring-controller'],
    ['debug', 'endpoint-controller'],
  ])('logs at level %s each occurrence of %s, also one that is only counted (J5)', async (level, component) => {
    const lines: unknown[] = [];
    const recorder = given({ ...silentLogger, [level]: (...line: unknown[]) => lines.push(line) });
    recorder.record(event('a'), component);
    recorder.record(event('a'), component);
    await settle();
    const fields = { object: 'shop/web', kind: 'Service', type: 'Warning', reason: 'R', message: 'a', component };
    expect(lines).toEqual([
      ['event occurred', fields],
      ['event occurred', fields],
    ]);
  });

  test('an Event that has expired is created again with its count', async () => {
    const recorder = given();
    recorder.record(event('a'), 'c');
    await settle();
    failures.push(error('conflict', 404));
    recorder.record(event('a'), 'c');
    await settle();
    expect(created.map(({ count }) => count)).toEqual([1, 2]);
  });

  test('what the API server does not take is tried twelve times (J4)', async () => {
    failures.push(...Array.from({ length: 11 }, () => error('retry', 503)));
    given().record(event('a'), 'c');
    await settle();
    expect(created).toHaveLength(1);
    expect(clock.now() - Date.parse('2026-01-01T00:00:00Z')).toBe(110_000);
  });

  test('does not retry a rejected Event, and creates the next one', async () => {
    const recorder = given();
    failures.push(error('terminal', 403));
    recorder.record(event('a'), 'c');
    await settle();
    recorder.record(event('a'), 'c');
    await settle();
    expect(created).toMatchObject([{ count: 1 }]);
  });

  test('an unexpected error loses its event only', async () => {
    const recorder = given();
    failures.push(new TypeError('unexpected'));
    recorder.record(event('a'), 'c');
    recorder.record(event('b'), 'c');
    await settle();
    expect(created.map(({ message }) => message)).toEqual(['b']);
    await recorder.stop();
  });

  test('stopping gives up what waits', async () => {
    const recorder = given();
    failures.push(...Array.from({ length: 100 }, () => error('retry', 503)));
    recorder.record(event('a'), 'c');
    recorder.record(event('b'), 'c');
    await new Promise((resolve) => setImmediate(resolve));
    await recorder.stop();
    recorder.record(event('c'), 'c');
    await settle();
    expect(created).toEqual([]);
  });

  test('stopping aborts a request without a warning', async () => {
    const warnings: unknown[] = [];
    const aborted = (_event: EventObject, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(error('retry', 0))));
    const recorder = given(
      { ...silentLogger, warn: (...line: unknown[]) => warnings.push(line) },
      { ...store, createEvent: aborted },
    );
    recorder.record(event('a'), 'c');
    await new Promise((resolve) => setImmediate(resolve));
    await recorder.stop();
    expect(warnings).toEqual([]);
  });

  test('a request that is rejected for good is tried once, and twelve times are the most', async () => {
    failures.push(...Array.from({ length: 12 }, () => error('retry', 503)));
    const recorder = given();
    recorder.record(event('a'), 'c');
    await settle();
    expect([created.length, failures.length]).toEqual([0, 0]);
    // Nothing was stored, so the next one is created, with a count of its own.
    recorder.record(event('a'), 'c');
    await settle();
    expect(created).toMatchObject([{ count: 1 }]);
  });

  test('a repetition that cannot be counted is not created again', async () => {
    const recorder = given();
    recorder.record(event('a'), 'c');
    await settle();
    failures.push(error('terminal', 403));
    recorder.record(event('a'), 'c');
    await settle();
    expect([created.length, patched.length]).toEqual([1, 0]);
    recorder.record(event('a'), 'c');
    await settle();
    expect(patched).toMatchObject([{ patch: { count: 3, lastTimestamp: '2026-01-01T00:00:00Z' } }]);
  });

  test('what exceeds the limit of an object is dropped', async () => {
    const recorder = given();
    for (let i = 0; i < 30; i++) recorder.record(event('a'), 'c');
    await settle();
    expect([created.length, patched.length]).toEqual([1, 24]);
  });

  test('at most a thousand Events wait; the newest are dropped', async () => {
    const first = Promise.withResolvers<void>();
    const recorder = given(silentLogger, {
      ...store,
      createEvent: async (object, signal) => {
        if (object.message === 'first') await first.promise;
        return store.createEvent(object, signal);
      },
    });
    const of = (name: string) => ({ ...event(name), regarding: { ...event(name).regarding, name } });
    recorder.record(of('first'), 'c');
    await new Promise((resolve) => setImmediate(resolve));
    for (let i = 1; i <= 1_001; i++) recorder.record(of(`e${i}`), 'c');
    first.resolve();
    await settle();
    expect(created).toHaveLength(1_001);
    expect(created.at(-1)).toMatchObject({ message: 'e1000' });
  });
});
