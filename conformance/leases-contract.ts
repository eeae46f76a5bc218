import type { GroupState, Leases } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** Leases, and a way to let time pass on the clock that they go by. */
export interface LeasesUnderTest {
  readonly leases: Leases;
  readonly pass: (ms: number) => Promise<void>;
}

/** The contract of the leases port. Every adapter runs it with a factory of its own. */
export function leasesContract(name: string, create: () => Promise<LeasesUnderTest>): void {
  describe(`leases contract: ${name}`, () => {
    const ttlMs = 400;
    const beat = (leases: Leases, member: string, acquire: readonly string[] = [], release: readonly string[] = []) =>
      leases.heartbeat({ group: 'g', member, ttlMs, acquire, release });

    test('a free scope is taken, and stays with its holder', async () => {
      const { leases } = await create();
      expect(holders(await beat(leases, 'a', ['s1', 's2']))).toEqual({ s1: 'a', s2: 'a' });
      const state = await beat(leases, 'b', ['s2', 's3']);
      expect(holders(state)).toEqual({ s1: 'a', s2: 'a', s3: 'b' });
      expect([...state.members].sort()).toEqual(['a', 'b']);
    });

    test('a heartbeat renews what is held; without one it ends', async () => {
      const { leases, pass } = await create();
      await beat(leases, 'a', ['s1']);
      await beat(leases, 'b', ['s2']);
      for (let i = 0; i < 3; i++) {
        await pass(ttlMs / 2);
        await beat(leases, 'a');
      }
      const state = await beat(leases, 'c', ['s1', 's2']);
      expect(holders(state)).toEqual({ s1: 'a', s2: 'c' });
      expect([...state.members].sort()).toEqual(['a', 'c']);
    });

    test('who only looks sees the group as it is, and changes nothing', async () => {
      const { leases, pass } = await create();
      expect(await leases.state('g')).toEqual({ members: [], leases: [] });
      await beat(leases, 'a', ['s1']);
      await leases.heartbeat({
        group: 'g',
        member: 'b',
        ttlMs: ttlMs * 4,
        acquire: ['s2'],
        release: [],
        leaving: true,
      });
      const seen = await leases.state('g');
      expect(holders(seen)).toEqual({ s1: 'a', s2: 'b' });
      expect(seen.members).toEqual(['a']);
      expect(await leases.state('other')).toEqual({ members: [], leases: [] });
      await pass(ttlMs * 1.5);
      expect(holders(await leases.state('g'))).toEqual({ s2: 'b' });
      const after = await beat(leases, 'c', ['s1', 's2']);
      expect(holders(after)).toEqual({ s1: 'c', s2: 'b' });
      expect(epochOf(await leases.state('g'), 's1')).toBe(epochOf(after, 's1'));
      expect(epochOf(after, 's1')).toBeGreaterThan(epochOf(seen, 's1'));
    });

    test('who comes back too late has lost what it held', async () => {
      const { leases, pass } = await create();
      await beat(leases, 'a', ['s1', 's2']);
      await pass(ttlMs * 1.5);
      await beat(leases, 'b', ['s1']);
      expect(holders(await beat(leases, 'a'))).toEqual({ s1: 'b' });
    });

    test('the epoch rises with each holder, and is a time', async () => {
      const { leases, pass } = await create();
      const before = epochOf(await beat(leases, 'a', ['s1']), 's1');
      expect(before).toBeGreaterThan(1e12);
      expect(epochOf(await beat(leases, 'a', ['s1']), 's1')).toBe(before);
      await beat(leases, 'a', [], ['s1']);
      const again = epochOf(await beat(leases, 'a', ['s1']), 's1');
      expect(again).toBeGreaterThan(before);
      await pass(ttlMs * 1.5);
      expect(epochOf(await beat(leases, 'b', ['s1']), 's1')).toBeGreaterThan(again);
    });

    test('released in one heartbeat, a scope is free for the next', async () => {
      const { leases } = await create();
      await beat(leases, 'a', ['s1', 's2']);
      expect(holders(await beat(leases, 'a', [], ['s1']))).toEqual({ s2: 'a' });
      expect(holders(await beat(leases, 'b', ['s1', 's2'], ['s2']))).toEqual({ s1: 'b', s2: 'a' });
    });

    test('others see with what its holder has begun, until it has another one', async () => {
      const { leases, pass } = await create();
      const begin = (member: string, ...started: string[]) =>
        leases.heartbeat({ group: 'g', member, ttlMs, acquire: [], release: [], started });
      await beat(leases, 'a', ['s1', 's2']);
      await beat(leases, 'b', ['s3']);
      expect(begunIn(await begin('a', 's1', 's3', 'unknown'))).toEqual(['s1']);
      expect(begunIn(await beat(leases, 'b'))).toEqual(['s1']);
      expect(begunIn(await leases.state('g'))).toEqual(['s1']);
      await beat(leases, 'a', [], ['s1']);
      expect(begunIn(await beat(leases, 'b', ['s1']))).toEqual([]);
      expect(begunIn(await begin('b', 's1', 's3'))).toEqual(['s1', 's3']);
      await pass(ttlMs * 1.5);
      expect(begunIn(await beat(leases, 'c', ['s1', 's3']))).toEqual([]);
    });

    test('who leaves gives everything back at once', async () => {
      const { leases } = await create();
      await beat(leases, 'a', ['s1', 's2']);
      await leases.leave('g', 'a');
      const state = await beat(leases, 'b', ['s1']);
      expect(holders(state)).toEqual({ s1: 'b' });
      expect(state.members).toEqual(['b']);
    });

    test('who is about to leave keeps what it holds, but is no member', async () => {
      const { leases } = await create();
      await beat(leases, 'a', ['s1', 's2']);
      const heartbeat = { group: 'g', member: 'a', ttlMs, acquire: [], release: ['s1'], leaving: true };
      await leases.heartbeat(heartbeat);
      const state = await beat(leases, 'b', ['s1', 's2']);
      expect(holders(state)).toEqual({ s1: 'b', s2: 'a' });
      expect(state.members).toEqual(['b']);
    });

    test('who watches learns soon that a member came, took or gave back something, or left', async () => {
      const { leases } = await create();
      let changes = 0;
      let learned = Promise.withResolvers<'learned'>();
      const unwatch = leases.watch('g', () => {
        changes++;
        learned.resolve('learned');
      });
      const happenings: readonly ((n: number) => Promise<unknown>)[] = [
        (n) => beat(leases, `comes${n}`),
        (n) => beat(leases, 'a', [`s${n}`]),
        async (n) => {
          await beat(leases, 'b', [`t${n}`]);
          await beat(leases, 'b', [], [`t${n}`]);
        },
        async (n) => {
          await beat(leases, `leaves${n}`);
          await leases.leave('g', `leaves${n}`);
        },
      ];
      for (const change of happenings) {
        // That it came was told before.
        await beat(leases, 'a');
        await tick();
        learned = Promise.withResolvers();
        // It may miss some, as while it is only beginning to listen.
        for (let n = 0; (await Promise.race([learned.promise, tick()])) !== 'learned'; n++) await change(n);
      }
      await tick();
      unwatch();
      const before = changes;
      await beat(leases, 'c');
      expect(changes).toBe(before);
    });

    test('groups are apart from each other', async () => {
      const { leases } = await create();
      await beat(leases, 'a', ['s1']);
      const state = await leases.heartbeat({ group: 'h', member: 'b', ttlMs, acquire: ['s1'], release: [] });
      expect(holders(state)).toEqual({ s1: 'b' });
      expect(state.members).toEqual(['b']);
    });

    test('of many that want the same at once, one gets it', async () => {
      const { leases } = await create();
      const members = Array.from({ length: 10 }, (_, i) => `m${i}`);
      const states = await Promise.all(members.map((member) => beat(leases, member, ['s1'])));
      const last = await beat(leases, 'm0');
      expect(last.leases).toHaveLength(1);
      expect(new Set(states.map((state) => holders(state).s1)).size).toBe(1);
    });
  });
}

const tick = () => new Promise<void>((resolve) => void setTimeout(resolve, 10));

const holders = ({ leases }: GroupState) => Object.fromEntries(leases.map(({ scope, holder }) => [scope, holder]));

const begunIn = ({ leases }: GroupState) =>
  leases
    .filter(({ started }) => started)
    .map(({ scope }) => scope)
    .sort();

const epochOf = ({ leases }: GroupState, scope: string) =>
  leases.find((lease) => lease.scope === scope)?.fencingToken ?? 0;
