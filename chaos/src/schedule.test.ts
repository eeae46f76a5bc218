import { seededRandom } from '@sluice/runtime';
import { describe, expect, test } from 'vitest';
import { chaosDeck, freezeDeck, schedule } from './schedule.ts';

const crew = { watcher: 2, reconciler: 3, writer: 2 };
const plan = (seed: number, actions = 50, deck = chaosDeck('nats')) =>
  schedule({ actions, crew, deck, random: seededRandom(seed), pauseMs: [1_100, 1_900] });

describe('the schedule', () => {
  test('is the same for the same seed and another for another', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
  });

  test('has every kind of action in the first fifty', () => {
    expect(new Set(plan(1).map(({ kind }) => kind))).toEqual(new Set(chaosDeck('nats')));
  });

  test('reaches every process of the crew', () => {
    const targets = new Set(plan(3, 300).map(({ target }) => target));
    expect([...targets].sort()).toEqual([
      'bus',
      'reconciler-1',
      'reconciler-2',
      'reconciler-3',
      'store',
      'watcher-1',
      'watcher-2',
      'writer-1',
      'writer-2',
    ]);
  });

  test('does to a process what its kind says', () => {
    for (const { kind, target } of plan(2, 200)) expect(kind.endsWith(target.replace(/-\d$/, ''))).toBe(true);
  });

  test('keeps its pauses', () => {
    const times = plan(5).map(({ at }) => at);
    const pauses = times.map((at, i) => at - (times[i - 1] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_100);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_900);
  });

  test('of freezes freezes nothing but roles', () => {
    expect(plan(1, 30, freezeDeck).every(({ kind }) => /^freeze (watcher|reconciler|writer)$/.test(kind))).toBe(true);
  });

  test('outlasts no duplicate window on a bus that has none', () => {
    expect(chaosDeck('kafka')).not.toContain('outlast the duplicate window bus');
    expect(chaosDeck('nats')).toContain('outlast the duplicate window bus');
  });

  test('refuses an empty deck', () => {
    expect(() => plan(1, 1, [])).toThrow('at least one kind');
  });
});
