import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import type { Heartbeat } from '../index.ts';
import { Lua, MemoryRedis, memoryPorts } from './testing/index.ts';

const lua = await Lua.load();
const serves = Array.from({ length: 100 }, (_, i) => `cluster-${i}`);

let clock: VirtualClock;
let server: MemoryRedis;
/** Commands that the server has executed since the last call, without the keys' common part. */
let commands: () => readonly string[];

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  server = new MemoryRedis({ lua, clock });
  let executed: string[] = [];
  const execute = server.execute.bind(server);
  server.execute = (command) => {
    executed.push(command.slice(0, 2).join(' ').replace('{sluice:leases/watcher}:', ''));
    return execute(command);
  };
  commands = () => {
    const all = executed;
    executed = [];
    return all;
  };
});

/** Sends heartbeats of one member from a process of its own. */
function member(name: string) {
  const { leases } = memoryPorts({ server, clock, fleet: 'sluice' });
  return (more: Partial<Heartbeat> = {}) =>
    leases.heartbeat({ group: 'watcher', member: name, ttlMs: 900, acquire: [], release: [], serves, ...more });
}

test('a heartbeat without news reads no leases, and writes only when its member expires', async () => {
  const [a, b] = [member('a'), member('b')];
  await a({ acquire: serves.slice(0, 50) });
  await b({ acquire: serves.slice(50) });
  await b({ started: serves.slice(50) });
  const before = await a();
  commands();
  const after = await a();
  expect(commands()).toEqual(['TIME', 'HGETALL expiries', 'GET version', 'HGET states', 'HSET expiries']);
  expect(after).toEqual(before);
  expect(after.leases).toBe(before.leases);
  expect(after.leases).toHaveLength(100);
});

test('members with the same scopes send and store them once', async () => {
  const [a, b] = [member('a'), member('b')];
  await a();
  commands();
  await b({ serves: serves.toReversed() });
  expect(commands().filter((command) => command === 'HSET served')).toEqual([]);
  const fewer = serves.slice(1);
  expect((await a({ serves: fewer })).serves?.get('a')).toHaveLength(99);
  expect(server.hash('{sluice:leases/watcher}:served').size).toBe(2);
  await b({ serves: fewer });
  expect(server.hash('{sluice:leases/watcher}:served').size).toBe(1);
});

test('a server that has lost the scopes gets them again', async () => {
  const a = member('a');
  await a({ acquire: ['cluster-1'] });
  await a();
  server.load(new Map(), () => true);
  const state = await a();
  expect(state.serves?.get('a')).toHaveLength(100);
  expect(state.leases).toEqual([]);
});

test.each([
  ['holders', 'cluster-9'],
  ['expiries', 'c'],
  ['states', 'a'],
])('an unreadable entry of the hash %s is removed and counted; all members continue', async (hash, field) => {
  const [a, b] = [member('a'), member('b')];
  await a({ acquire: ['cluster-1'] });
  await b({ acquire: ['cluster-2'] });
  server.execute(['HSET', `{sluice:leases/watcher}:${hash}`, field, 'unreadable']);
  const { leases: port } = memoryPorts({ server, clock, fleet: 'sluice' });
  expect((await port.state('watcher')).members).toContain('b');
  expect(await b({ acquire: ['cluster-3'] })).toMatchObject({ unreadable: 1 });
  expect(await b()).not.toHaveProperty('unreadable');
  const { members, leases } = await a({ acquire: ['cluster-9'] });
  expect([...members].sort()).toEqual(['a', 'b']);
  expect(leases.filter(({ holder }) => holder === 'b').map(({ scope }) => scope)).toEqual(['cluster-2', 'cluster-3']);
  expect(leases.some(({ scope, holder }) => scope === 'cluster-9' && holder === 'a')).toBe(true);
});

test('a member that died while the clock of Redis was ahead expires once the clock is right', async () => {
  const [a, b] = [member('a'), member('b')];
  server.stepClock(3_600_000);
  await a({ acquire: ['cluster-1'] });
  server.stepClock(-3_600_000);
  const { members, leases } = await b({ acquire: ['cluster-1'] });
  expect(members).toEqual(['b']);
  expect(leases).toMatchObject([{ scope: 'cluster-1', holder: 'b' }]);
});
