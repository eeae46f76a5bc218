import type { EventToRecord } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { EventCorrelator } from './event-correlator.ts';

const event = (message: string, name = 'web'): EventToRecord => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpointSlices',
  message,
  regarding: { kind: 'Service', namespace: 'shop', name, uid: `uid-${name}` },
});

describe('event correlator (J4)', () => {
  test('the same event again counts up the first', () => {
    const correlator = new EventCorrelator();
    expect(correlator.correlate(event('a'), 'c', 1_000)).toMatchObject({ action: 'create', count: 1, firstAt: 1_000 });
    expect(correlator.correlate(event('a'), 'c', 2_000)).toMatchObject({ action: 'patch', count: 2, firstAt: 1_000 });
    expect(correlator.correlate(event('b'), 'c', 3_000)).toMatchObject({ action: 'create', count: 1 });
  });

  test('creates the Event again after the stored one is gone', () => {
    const correlator = new EventCorrelator();
    const first = correlator.correlate(event('a'), 'c', 0);
    if (first.action === 'drop') throw new Error('dropped');
    correlator.forget(first.key);
    expect(correlator.correlate(event('a'), 'c', 1)).toMatchObject({ action: 'create', count: 1 });
  });

  test('the tenth different message within ten minutes is combined with those after it', () => {
    const correlator = new EventCorrelator();
    const actions = Array.from({ length: 12 }, (_, i) => correlator.correlate(event(`message ${i}`), 'c', i));
    expect(actions.map((a) => (a.action === 'drop' ? a.action : `${a.action} ${a.count}`))).toEqual([
      ...Array.from({ length: 10 }, () => 'create 1'),
      'patch 2',
      'patch 3',
    ]);
    expect(actions[9]).toMatchObject({ message: '(combined from similar events): message 9' });
    expect(actions[8]).toMatchObject({ message: 'message 8' });
  });

  test('after ten quiet minutes messages stand for themselves again', () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 12; i++) correlator.correlate(event(`message ${i}`), 'c', i);
    expect(correlator.correlate(event('later'), 'c', 600_100)).toMatchObject({ action: 'create', message: 'later' });
  });

  test('an object gets a burst of 25 events, then one in five minutes; other objects are not touched', () => {
    const correlator = new EventCorrelator();
    const at = (now: number, name?: string) => correlator.correlate(event('a', name), 'c', now).action;
    expect(Array.from({ length: 27 }, () => at(0)).filter((action) => action === 'drop')).toHaveLength(2);
    expect(at(0, 'other')).toBe('create');
    expect(at(299_999)).toBe('drop');
    expect(at(300_001)).toBe('patch');
    expect(at(300_002)).toBe('drop');
  });

  test.each<[string, Partial<EventToRecord>, string]>([
    ['another type', { type: 'Normal' }, 'c'],
    ['another reason', { reason: 'Other' }, 'c'],
    ['another controller', {}, 'd'],
    ['another uid', { regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'new' } }, 'c'],
    ['another kind', { regarding: { kind: 'Endpoints', namespace: 'shop', name: 'web', uid: 'uid-web' } }, 'c'],
    ['another namespace', { regarding: { kind: 'Service', namespace: 'x', name: 'web', uid: 'uid-web' } }, 'c'],
  ])('an event of %s is another one', (_, change, component) => {
    const correlator = new EventCorrelator();
    correlator.correlate(event('a'), 'c', 0);
    expect(correlator.correlate({ ...event('a'), ...change }, component, 1)).toMatchObject({ action: 'create' });
  });

  test('messages are combined as long as no ten minutes pass between two of them', () => {
    const correlator = new EventCorrelator();
    let now = 0;
    const next = (i: number, ms: number) => {
      now += ms;
      return correlator.correlate(event(`message ${i}`), 'c', now);
    };
    for (let i = 0; i < 10; i++) next(i, 600_000);
    expect(next(10, 600_000)).toMatchObject({ action: 'patch', message: '(combined from similar events): message 10' });
    expect(next(11, 600_001)).toMatchObject({ action: 'create', message: 'message 11' });
  });

  test('a message that is repeated does not count as another one', () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 20; i++) correlator.correlate(event('a'), 'c', i);
    expect(correlator.correlate(event('b'), 'c', 20)).toMatchObject({ action: 'create', message: 'b' });
  });

  test('an idle object has a burst of 25 at most', () => {
    const correlator = new EventCorrelator();
    const burst = (now: number) =>
      Array.from({ length: 30 }, () => correlator.correlate(event('a'), 'c', now).action).filter((a) => a !== 'drop');
    expect(burst(0)).toHaveLength(25);
    expect(burst(1_000 * 300_000)).toHaveLength(25);
  });

  test('a dropped event counts: the next one that is stored has it', () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 30; i++) correlator.correlate(event('a'), 'c', 0);
    expect(correlator.correlate(event('a'), 'c', 300_000)).toMatchObject({ action: 'patch', count: 31, firstAt: 0 });
  });

  test('remembers 4096 events, the latest ones', () => {
    const correlator = new EventCorrelator();
    const at = (i: number) => correlator.correlate(event('a', `s${i}`), 'c', 0).action;
    for (let i = 0; i < 4_096; i++) at(i);
    expect(at(0)).toBe('patch');
    expect(at(4_096)).toBe('create');
    // The first one was repeated, so the second one has been forgotten.
    expect([at(0), at(1)]).toEqual(['patch', 'create']);
  });
});
