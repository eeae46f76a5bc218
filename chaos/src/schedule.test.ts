import { seededRandom } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { chaosActions, fleets, freezeActions, schedule, type Topology } from './schedule.ts';

const single = { ...fleets.roles, bus: 1, store: 1 };
const roles = ['watcher', 'reconciler', 'writer'] as const;
const nats: Topology = { bus: 'nats', natsNodes: 1, sentinel: false, disks: true, versions: 1, roles };
const plan = (seed: number, actions = 50, kinds = chaosActions(nats), replicas = single) =>
  schedule({ actions, replicas, kinds, random: seededRandom(seed), pauseMs: [1_100, 1_900] });

describe('the schedule', () => {
  test('is the same for the same seed and differs between seeds', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
  });

  test('contains every kind of action in the first fifty', () => {
    expect(new Set(plan(1).map(({ kind }) => kind))).toEqual(new Set(chaosActions(nats)));
  });

  test('reaches every process', () => {
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

  test('of workers affects no other role', () => {
    const workers = chaosActions({ ...nats, roles: ['worker'] });
    const targets = new Set(plan(3, 300, workers, { ...fleets.workers, bus: 1, store: 1 }).map(({ target }) => target));
    expect([...targets].sort()).toEqual(['bus', 'store', 'worker-1', 'worker-2', 'worker-3']);
  });

  test('targets a process of its kind', () => {
    for (const { kind, target } of plan(2, 200)) expect(kind.endsWith(target.replace(/-\d$/, ''))).toBe(true);
  });

  test('keeps to the pauses', () => {
    const times = plan(5).map(({ at }) => at);
    const pauses = times.map((at, i) => at - (times[i - 1] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_100);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_900);
  });

  test('of freezes affects roles only', () => {
    expect(
      plan(1, 30, freezeActions(nats)).every(({ kind }) => /^freeze (watcher|reconciler|writer)$/.test(kind)),
    ).toBe(true);
  });

  test('never outlasts the duplicate window of a bus without one', () => {
    expect(chaosActions({ ...nats, bus: 'kafka' })).not.toContain('outlast duplicate window bus');
    expect(chaosActions(nats)).toContain('outlast duplicate window bus');
  });

  test('fails over only what is replicated, and fills only disks that it may', () => {
    const simple = chaosActions({ ...nats, disks: false });
    for (const kind of ['change leaders bus', 'fail over store', 'fill disk bus', 'fill disk store']) {
      expect(simple).not.toContain(kind);
      expect(chaosActions({ ...nats, natsNodes: 3, sentinel: true })).toContain(kind);
    }
  });

  test('changes the version of each role, if there are two', () => {
    const kinds = roles.map((role) => `change version ${role}` as const);
    for (const kind of kinds) {
      expect(chaosActions(nats)).not.toContain(kind);
      expect(chaosActions({ ...nats, versions: 2 })).toContain(kind);
    }
    const planned = plan(6, 1_000, kinds);
    expect(new Set(planned.map(({ target }) => target)).size).toBe(7);
  });

  test('of replicated servers targets each one, or all for what concerns all', () => {
    const kinds = chaosActions({ ...nats, natsNodes: 3, sentinel: true });
    const planned = plan(4, 1_000, kinds, { ...single, bus: 3, store: 2 });
    const targets = (kind: string) => [...new Set(planned.filter((a) => a.kind === kind).map((a) => a.target))].sort();
    expect(targets('kill bus')).toEqual(['bus-1', 'bus-2', 'bus-3']);
    expect(targets('fill disk store')).toEqual(['store-1', 'store-2']);
    expect(targets('change leaders bus')).toEqual(['bus']);
    expect(targets('wipe store')).toEqual(['store']);
  });

  test('rejects an empty list of kinds', () => {
    expect(() => plan(1, 1, [])).toThrow('at least one kind');
  });
});
