import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { SilenceWatch } from './silence-watch.ts';

test('all checks share one timer, which ends with the last of them', async () => {
  const clock = new VirtualClock(0);
  const watch = new SilenceWatch(clock, 3_000);
  const checked: string[] = [];
  const removeA = watch.add(() => checked.push('a'));
  await advance(clock, 1_000);
  const removeB = watch.add(() => checked.push('b'));
  await advance(clock, 2_000);
  expect(checked).toEqual(['a', 'b']);
  removeA();
  await advance(clock, 3_000);
  expect(checked).toEqual(['a', 'b', 'b']);
  removeB();
  await advance(clock, 30_000);
  expect(checked).toEqual(['a', 'b', 'b']);
  watch.add(() => checked.push('c'));
  await advance(clock, 3_000);
  expect(checked.at(-1)).toBe('c');
});
