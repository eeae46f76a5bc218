import { sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { GroupState, Heartbeat, Leases } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** Leases, and a way to advance their clock. */
export interface LeasesUnderTest {
  readonly leases: Leases;
  readonly pass: (ms: number) => Promise<void>;
  /** Loses all leases, if the tests can cause it. */
  readonly wipe?: () => Promise<void>;
  /** Saves all leases and returns a way to restore them. */
  readonly save?: () => Promise<() => Promise<void>>;
}

/**
 * The contract of the leases port. Every adapter runs it. On a real clock, ttlMs is the longest delay of a heartbeat that
 * the tests tolerate.
 */
export function leasesContract(name: string, ttlMs: number, create: () => Promise<LeasesUnderTest>): void {
  describe.concurrent(`leases contract: ${name}`, () => {
    const heartbeat = (
      leases: Leases,
      member: string,
      acquire: readonly string[] = [],
      release: readonly string[] = [],
    ) => leases.heartbeat({ group: 'g', member, ttlMs, acquire, release });

    test('a free scope is acquired and stays with its holder', async () => {
      const { leases } = await create();
      expect(holders(await heartbeat(leases, 'a', ['s1', 's2']))).toEqual({ s1: 'a', s2: 'a' });
      const state = await heartbeat(leases, 'b', ['s2', 's3']);
      expect(holders(state)).toEqual({ s1: 'a', s2: 'a', s3: 'b' });
      expect([...state.members].sort()).toEqual(['a', 'b']);
    });

    test('a heartbeat renews leases; without heartbeats they expire', async () => {
      const { leases, pass } = await create();
      await heartbeat(leases, 'a', ['s1']);
      await heartbeat(leases, 'b', ['s2']);
      for (let i = 0; i < 3; i++) {
        await pass(ttlMs / 2);
        await heartbeat(leases, 'a');
      }
      const state = await heartbeat(leases, 'c', ['s1', 's2']);
      expect(holders(state)).toEqual({ s1: 'a', s2: 'c' });
      expect([...state.members].sort()).toEqual(['a', 'c']);
    });

    test('reading the state of a group changes nothing', async () => {
      const { leases, pass } = await create();
      expect(await leases.state('g')).toEqual({ members: [], leases: [] });
      await heartbeat(leases, 'a', ['s1']);
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
      const after = await heartbeat(leases, 'c', ['s1', 's2']);
      expect(holders(after)).toEqual({ s1: 'c', s2: 'b' });
      expect(tokenOf(await leases.state('g'), 's1')).toBe(tokenOf(after, 's1'));
      expect(tokenOf(after, 's1')).toBeGreaterThan(tokenOf(seen, 's1'));
    });

    test('a member without progress stays a member, keeps its leases and is named with its reasons', async () => {
      const { leases } = await create();
      await heartbeat(leases, 'a', ['s1']);
      const stalled = ['*bus', 'ns/a b,c=1%'];
      const cutOff = { group: 'g', member: 'b', ttlMs, acquire: ['s2'], release: [], stalled };
      const expected = { members: ['a', 'b'], stalled: new Map([['b', stalled]]) };
      for (const state of [await leases.heartbeat(cutOff), await leases.state('g')]) {
        expect({ members: [...state.members].sort(), stalled: state.stalled }).toEqual(expected);
        expect(holders(state)).toEqual({ s1: 'a', s2: 'b' });
      }
      const leaving = await leases.heartbeat({ ...cutOff, leaving: true });
      expect([leaving.members, leaving.stalled]).toEqual([['a'], undefined]);
      expect((await heartbeat(leases, 'b')).stalled).toBeUndefined();
    });

    test('a heartbeat says which other member expires next, and when', async () => {
      const { leases, pass } = await create();
      expect((await heartbeat(leases, 'a')).nextExpiry).toBeUndefined();
      await leases.heartbeat({ group: 'g', member: 'b', ttlMs: 60_000, acquire: [], release: [] });
      const next = (await heartbeat(leases, 'c')).nextExpiry;
      expect(next?.member).toBe('a');
      expect(next?.inMs).toBeGreaterThan(0);
      expect(next?.inMs).toBeLessThanOrEqual(ttlMs);
      await pass(ttlMs * 1.5);
      const last = (await heartbeat(leases, 'c')).nextExpiry;
      expect(last?.member).toBe('b');
      expect(last?.inMs).toBeGreaterThan(ttlMs);
    });

    test('a member that returns too late has lost its leases', async () => {
      const { leases, pass } = await create();
      await heartbeat(leases, 'a', ['s1', 's2']);
      await pass(ttlMs * 1.5);
      await heartbeat(leases, 'b', ['s1']);
      expect(holders(await heartbeat(leases, 'a'))).toEqual({ s1: 'b' });
    });

    test('the fencing token increases with each holder and is a timestamp', async () => {
      const { leases, pass } = await create();
      const before = tokenOf(await heartbeat(leases, 'a', ['s1']), 's1');
      expect(before).toBeGreaterThan(1e12);
      expect(tokenOf(await heartbeat(leases, 'a', ['s1']), 's1')).toBe(before);
      await heartbeat(leases, 'a', [], ['s1']);
      const again = tokenOf(await heartbeat(leases, 'a', ['s1']), 's1');
      expect(again).toBeGreaterThan(before);
      await pass(ttlMs * 1.5);
      expect(tokenOf(await heartbeat(leases, 'b', ['s1']), 's1')).toBeGreaterThan(again);
    });

    test('a scope released in one heartbeat is free for the next', async () => {
      const { leases } = await create();
      await heartbeat(leases, 'a', ['s1', 's2']);
      expect(holders(await heartbeat(leases, 'a', [], ['s1']))).toEqual({ s2: 'a' });
      expect(holders(await heartbeat(leases, 'b', ['s1', 's2'], ['s2']))).toEqual({ s1: 'b', s2: 'a' });
    });

    test('other members see which scopes their holder has started, until another one holds them', async () => {
      const { leases, pass } = await create();
      const begin = (member: string, ...started: string[]) =>
        leases.heartbeat({ group: 'g', member, ttlMs, acquire: [], release: [], started });
      await heartbeat(leases, 'a', ['s1', 's2']);
      await heartbeat(leases, 'b', ['s3']);
      expect(startedIn(await begin('a', 's1', 's3', 'unknown'))).toEqual(['s1']);
      expect(startedIn(await heartbeat(leases, 'b'))).toEqual(['s1']);
      expect(startedIn(await leases.state('g'))).toEqual(['s1']);
      await heartbeat(leases, 'a', [], ['s1']);
      expect(startedIn(await heartbeat(leases, 'b', ['s1']))).toEqual([]);
      expect(startedIn(await begin('b', 's1', 's3'))).toEqual(['s1', 's3']);
      await pass(ttlMs * 1.5);
      expect(startedIn(await heartbeat(leases, 'c', ['s1', 's3']))).toEqual([]);
    });

    test('the holder of a scope sees which other member is prepared for it, until it releases the scope', async () => {
      const { leases, pass } = await create();
      const prepare = (member: string, ...prepared: string[]) =>
        leases.heartbeat({ group: 'g', member, ttlMs, acquire: [], release: [], prepared });
      await heartbeat(leases, 'a', ['s1', 's2', 's3']);
      expect(preparedIn(await prepare('a', 's1'))).toEqual({});
      expect(preparedIn(await prepare('b', 's1', 's2', 'unknown'))).toEqual({ s1: 'b', s2: 'b' });
      expect(preparedIn(await prepare('c', 's2'))).toEqual({ s1: 'b', s2: 'c' });
      expect(preparedIn(await heartbeat(leases, 'a'))).toEqual({ s1: 'b', s2: 'c' });
      expect(preparedIn(await leases.state('g'))).toEqual({ s1: 'b', s2: 'c' });
      await heartbeat(leases, 'a', [], ['s1']);
      expect(preparedIn(await heartbeat(leases, 'a', ['s1']))).toEqual({ s2: 'c' });
      await pass(ttlMs * 1.5);
      expect(preparedIn(await heartbeat(leases, 'd', ['s1', 's2']))).toEqual({});
    });

    test('a member that leaves releases everything immediately', async () => {
      const { leases } = await create();
      await heartbeat(leases, 'a', ['s1', 's2']);
      await leases.leave('g', 'a');
      const state = await heartbeat(leases, 'b', ['s1']);
      expect(holders(state)).toEqual({ s1: 'b' });
      expect(state.members).toEqual(['b']);
    });

    test('a leaving member keeps its leases but is no longer a member', async () => {
      const { leases } = await create();
      await heartbeat(leases, 'a', ['s1', 's2']);
      const leaving = { group: 'g', member: 'a', ttlMs, acquire: [], release: ['s1'], leaving: true };
      await leases.heartbeat(leaving);
      const state = await heartbeat(leases, 'b', ['s1', 's2']);
      expect(holders(state)).toEqual({ s1: 'b', s2: 'a' });
      expect(state.members).toEqual(['b']);
    });

    test('watchers of a group are notified when a member joins, acquires, releases or leaves', async () => {
      const { leases } = await create();
      let changes = 0;
      let learned = Promise.withResolvers<'learned'>();
      const unwatch = leases.watch('g', () => {
        changes++;
        learned.resolve('learned');
      });
      const events: readonly ((n: number) => Promise<unknown>)[] = [
        (n) => heartbeat(leases, `comes${n}`),
        (n) => heartbeat(leases, 'a', [`s${n}`]),
        async (n) => {
          await heartbeat(leases, 'b', [`t${n}`]);
          await heartbeat(leases, 'b', [], [`t${n}`]);
        },
        async (n) => {
          await heartbeat(leases, `leaves${n}`);
          await leases.leave('g', `leaves${n}`);
        },
      ];
      for (const change of events) {
        // Its joining has been reported before.
        await heartbeat(leases, 'a');
        await tick();
        learned = Promise.withResolvers();
        // Notifications may be missed while the subscription starts.
        for (let n = 0; (await Promise.race([learned.promise, tick()])) !== 'learned'; n++) await change(n);
      }
      await tick();
      unwatch();
      const before = changes;
      await heartbeat(leases, 'c');
      expect(changes).toBe(before);
    });

    test('the version changes with everything that members see, and stays while members only renew', async () => {
      const { leases, pass } = await create();
      const renew = (member: string) => heartbeat(leases, member);
      const cause: Partial<Heartbeat> = { group: 'g', member: 'b', ttlMs };
      const changes: readonly Partial<Heartbeat>[] = [
        { acquire: ['s1'] },
        { started: ['s1'] },
        { stalled: ['*bus'] },
        { stalled: ['*bus', 's1'] },
        { stalled: ['*bus'], leaving: true },
        { stalled: [], release: ['s1'] },
        { serves: ['s1'] },
        { serves: ['s1', 's2'] },
        { serves: [] },
        {},
        { prepared: ['s9'] },
      ];
      await heartbeat(leases, 'a', ['s9']);
      await renew('a');
      await renew('b');
      let before = await renew('a');
      const seen = new Set([before.version]);
      const changed = async (what: string) => {
        const after = await renew('a');
        expect(seen, what).not.toContain(after.version);
        seen.add(after.version);
        for (const member of ['a', 'a']) {
          const again = await renew(member);
          expect(again.version, what).toBe(after.version);
          expect(again.members, what).toBe(after.members);
          expect(again.leases, what).toBe(after.leases);
        }
        before = after;
      };
      for (const change of changes) {
        await leases.heartbeat({ group: 'g', member: 'b', ttlMs, acquire: [], release: [], ...cause, ...change });
        await changed(JSON.stringify(change));
        await leases.heartbeat({ group: 'g', member: 'b', ttlMs, acquire: [], release: [], ...change, started: [] });
        expect((await renew('a')).version, `repeated: ${JSON.stringify(change)}`).toBe(before.version);
      }
      await leases.leave('g', 'b');
      await changed('leave');
      await renew('b');
      await changed('join');
      await pass(ttlMs / 2);
      await renew('a');
      await pass(ttlMs * 0.75);
      expect((await renew('a')).members).toEqual(['a']);
      expect(seen).not.toContain((await renew('a')).version);
    });

    test('a member that only renews sees what others have changed, also while it was late', async () => {
      const { leases, pass } = await create();
      await heartbeat(leases, 'a', ['s1']);
      await heartbeat(leases, 'b');
      expect(holders(await heartbeat(leases, 'b'))).toEqual({ s1: 'a' });
      await heartbeat(leases, 'a', ['s2'], ['s1']);
      expect(holders(await heartbeat(leases, 'b'))).toEqual({ s2: 'a' });
      await heartbeat(leases, 'c', ['s1']);
      await pass(ttlMs * 1.5);
      const late = await heartbeat(leases, 'b');
      expect([holders(late), late.members]).toEqual([{}, ['b']]);
    });

    test('a member that expired sees the loss of its leases, although nobody else has noticed', async () => {
      const { leases, pass } = await create();
      await heartbeat(leases, 'a', ['s1']);
      const before = await heartbeat(leases, 'a');
      await pass(ttlMs * 1.5);
      const after = await heartbeat(leases, 'a');
      expect(holders(after)).toEqual({});
      expect(after.version).not.toBe(before.version);
    });

    test('members see which scopes each of them can serve; a member that declares none serves all', async () => {
      const { leases, pass } = await create();
      const serve = (member: string, serves?: readonly string[]) =>
        leases.heartbeat({ group: 'g', member, ttlMs, acquire: [], release: [], serves });
      const servedIn = ({ serves }: GroupState) =>
        Object.fromEntries([...(serves ?? [])].map(([member, scopes]) => [member, [...scopes].sort()]));
      await serve('a', ['s2', 's1']);
      await serve('b', ['s1', 's2']);
      await serve('c');
      expect(servedIn(await serve('a', ['s2', 's1']))).toEqual({ a: ['s1', 's2'], b: ['s1', 's2'] });
      expect(servedIn(await serve('b', []))).toEqual({ a: ['s1', 's2'], b: [] });
      expect(servedIn(await serve('a', ['s3']))).toEqual({ a: ['s3'], b: [] });
      // The list of b was sent by a before.
      expect(servedIn(await serve('b', ['s1', 's2']))).toEqual({ a: ['s3'], b: ['s1', 's2'] });
      await pass(ttlMs * 1.5);
      expect(servedIn(await serve('b', ['s1', 's2']))).toEqual({ b: ['s1', 's2'] });
      expect(servedIn(await serve('d', ['s3']))).toEqual({ b: ['s1', 's2'], d: ['s3'] });
    });

    test('groups are independent', async () => {
      const { leases } = await create();
      await heartbeat(leases, 'a', ['s1']);
      const state = await leases.heartbeat({ group: 'h', member: 'b', ttlMs, acquire: ['s1'], release: [] });
      expect(holders(state)).toEqual({ s1: 'b' });
      expect(state.members).toEqual(['b']);
    });

    test('leases that the store has lost are not reported as unchanged', async (context) => {
      const { leases, wipe } = await create();
      if (wipe === undefined) return context.skip();
      await heartbeat(leases, 'a', ['s1']);
      await heartbeat(leases, 'b');
      const before = await heartbeat(leases, 'a');
      await wipe();
      const after = await heartbeat(leases, 'a');
      expect([holders(after), after.members]).toEqual([{}, ['a']]);
      expect(after.version).not.toBe(before.version);
    });

    test('leases that the store has restored are not reported as unchanged', async (context) => {
      const { leases, save } = await create();
      if (save === undefined) return context.skip();
      await heartbeat(leases, 'a', ['s1']);
      await heartbeat(leases, 'b');
      const restore = await save();
      await heartbeat(leases, 'a', ['s2'], ['s1']);
      const before = await heartbeat(leases, 'a');
      await restore();
      expect(holders(await heartbeat(leases, 'a'))).toEqual({ s1: 'a' });
      // Another change than before, in the same moment and after as many changes.
      await heartbeat(leases, 'b', ['s3']);
      const after = await heartbeat(leases, 'a');
      expect(holders(after)).toEqual({ s1: 'a', s3: 'b' });
      expect(after.version).not.toBe(before.version);
    });

    test('only one of many concurrent members acquires a scope', async () => {
      const { leases } = await create();
      const members = Array.from({ length: 10 }, (_, i) => `m${i}`);
      const states = await Promise.all(members.map((member) => heartbeat(leases, member, ['s1'])));
      const last = await heartbeat(leases, 'm0');
      expect(last.leases).toHaveLength(1);
      expect(new Set(states.map((state) => holders(state).s1)).size).toBe(1);
    });
  });
}

// biome-ignore lint/plugin: a notification that comes later makes the test weaker, and does not fail it
const tick = () => sleep(systemClock, 10);

const holders = ({ leases }: GroupState) => Object.fromEntries(leases.map(({ scope, holder }) => [scope, holder]));

const startedIn = ({ leases }: GroupState) =>
  leases
    .filter(({ started }) => started)
    .map(({ scope }) => scope)
    .sort();

const preparedIn = ({ leases }: GroupState) =>
  Object.fromEntries(
    leases.flatMap(({ scope, preparedBy }) => (preparedBy === undefined ? [] : [[scope, preparedBy]])),
  );

const tokenOf = ({ leases }: GroupState, scope: string) =>
  leases.find((lease) => lease.scope === scope)?.fencingToken ?? 0;
