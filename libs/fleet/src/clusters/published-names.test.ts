import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryClusterDirectory, unidentified } from '@sluice/store';
import { expect, test, vi } from 'vitest';
import { PublishedNames } from './published-names.ts';

test('learns the name of a new cluster that is published a moment later, and waits in vain only once', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  const names = new PublishedNames({ directory, clock, logger: silentLogger });
  const finished: string[] = [];
  const learn = (identity: string) => void names.learn(new Set([identity])).then(() => finished.push(identity));
  learn('uid-1');
  await advance(clock, 400);
  expect(finished).toEqual([]);
  await directory.put({ identity: 'uid-1', name: 'west', version: '', server: '' });
  await advance(clock, 100);
  expect([finished, names.get('uid-1')]).toEqual([['uid-1'], 'west']);
  const list = vi.spyOn(directory, 'list');
  learn('uid-1');
  await advance(clock, 10);
  expect([finished.length, list.mock.calls.length]).toEqual([2, 0]);
  learn('garbage');
  await advance(clock, 900);
  expect(finished).not.toContain('garbage');
  await advance(clock, 200);
  learn('more garbage');
  await advance(clock, 10);
  expect(finished.slice(2)).toEqual(['garbage', 'more garbage']);
  await advance(clock, 60_000);
  learn('garbage');
  await advance(clock, 10);
  expect(finished.slice(4)).toEqual(['garbage']);
});

test('a store that does not answer delays a new cluster by a second', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  vi.spyOn(directory, 'list').mockReturnValue(new Promise(() => {}));
  const names = new PublishedNames({ directory, clock, logger: silentLogger });
  let isDone = false;
  void names.learn(new Set(['uid-1'])).then(() => (isDone = true));
  await advance(clock, 900);
  expect(isDone).toBe(false);
  await advance(clock, 200);
  expect(isDone).toBe(true);
});

test('knows the current names of the fleet, and keeps them while the store does not answer', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  const about = { version: '', server: '' };
  await directory.put({ identity: 'uid-1', name: 'west', ...about });
  await directory.put({ identity: unidentified('east'), name: 'east', ...about });
  const names = new PublishedNames({ directory, clock, logger: silentLogger });
  const stop = new AbortController();
  const running = names.run(stop.signal);
  await advance(clock, 10);
  expect([names.get('uid-1'), names.get(unidentified('east'))]).toEqual(['west', undefined]);
  const list = vi.spyOn(directory, 'list').mockRejectedValue(new Error('connection refused'));
  await advance(clock, 60_000);
  expect(names.get('uid-1')).toBe('west');
  list.mockRestore();
  await directory.put({ identity: 'uid-1', name: 'renamed', ...about });
  await advance(clock, 2_000);
  expect(names.get('uid-1')).toBe('renamed');
  stop.abort();
  await running;
});
