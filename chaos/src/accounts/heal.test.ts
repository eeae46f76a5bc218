import { expect, test } from 'vitest';
import { Healing } from './heal.ts';

test('lasts until the last of the changes just after the action is to be read', () => {
  const healing = new Healing();
  healing.flipped('a', false, 110);
  healing.flipped('b', false, 400);
  healing.flipped('c', false, 700);
  healing.shown('a', false, 1_100);
  expect(healing.after(100)).toBeUndefined();
  healing.shown('b', false, 1_600);
  expect(healing.after(100)).toBe(1_500);
});

test('what was open when the action came counts as well, what had been read does not', () => {
  const healing = new Healing();
  healing.flipped('a', false, 10);
  healing.shown('a', false, 50);
  expect(healing.after(100)).toBeUndefined();
  healing.flipped('b', false, 20);
  healing.shown('b', false, 900);
  expect(healing.after(100)).toBe(800);
});

test('what is shown again, or as it was before, is no news', () => {
  const healing = new Healing();
  healing.flipped('a', false, 110);
  healing.shown('a', true, 120);
  expect(healing.isOpen('a')).toBe(true);
  healing.shown('a', false, 200);
  expect(healing.isOpen('a')).toBe(false);
  healing.shown('a', false, 900);
  expect(healing.after(100)).toBe(100);
});
