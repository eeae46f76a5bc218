import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { Lua, MemoryRedis, memoryPorts } from './testing/index.ts';

const lua = await Lua.load();
const scope = 'reconciler/0';
const entry = (field: string, value: unknown) => ({ key: 'c/shop/web', field, value });
const checkpoint = (offset: number) => ({ offset, id: '', streamId: 's' });

let server: MemoryRedis;

/** The scope has two entries. */
beforeEach(async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  server = new MemoryRedis({ lua, clock });
  await open().claim(scope, 1);
  await open().commit(commitOf(0, entry('a', 1), entry('b', 2)));
});

const open = () => memoryPorts({ server, clock: new VirtualClock(0), fleet: 'sluice' }).store;
const commitOf = (expectedOffset: number, ...entries: readonly ReturnType<typeof entry>[]) => ({
  ...{ scope, fencingToken: 1, expectedOffset, checkpoint: checkpoint(expectedOffset + 1), entries },
});
const fields = (part: 'meta' | 'view') => server.execute(['HGETALL', `{sluice:${scope}}:${part}`]) as string[];

test('a scope whose entries are as committed is intact', async () => {
  expect(await open().claim(scope, 2)).toMatchObject({ intact: true, checkpoint: checkpoint(1) });
});

test.each([
  ['all entries were lost', 2],
  ['one entry was lost', 1],
])('a scope is not intact if %s and its checkpoint was not', async (_, count) => {
  const names = fields('view').filter((__, i) => i % 2 === 0);
  server.execute(['HDEL', `{sluice:${scope}}:view`, ...names.slice(0, count)]);
  expect(await open().claim(scope, 2)).toMatchObject({ intact: false, checkpoint: checkpoint(1) });
  expect(await open().claim(scope, 3)).toMatchObject({ intact: false });
  await open().commit({ ...commitOf(1, entry('a', 3)), fencingToken: 3 });
  expect(await open().claim(scope, 4)).toMatchObject({ intact: true });
});

test('a scope without entries is intact, and so is one that loses its entries by commits', async () => {
  await open().commit(commitOf(1, entry('a', undefined), entry('b', undefined)));
  expect(await open().claim(scope, 2)).toMatchObject({ intact: true, entries: [] });
});

test('a scope that was stored without the number of its entries is intact', async () => {
  server.execute(['HDEL', `{sluice:${scope}}:meta`, 'entries']);
  expect(await open().claim(scope, 2)).toMatchObject({ intact: true });
});
