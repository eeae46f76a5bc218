import { silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { MemoryClusterDirectory, unidentified } from '@sluice/store';
import { expect, test, vi } from 'vitest';
import { PublishedNames } from './published-names.ts';

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
