import { expect, test } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const labels = { app: 'web', 'app.kubernetes.io/part-of': 'shop', empty: '' };

test.each([
  ['app=web', true],
  ['app==web', true],
  ['app = cart', false],
  ['app!=cart', true],
  ['app!=web', false],
  ['tier!=front', true],
  ['app.kubernetes.io/part-of=shop,app=web', true],
  ['app=web,tier=front', false],
  ['app in (cart, web)', true],
  ['app notin (cart,web),empty', false],
  ['tier notin (front)', true],
  ['app', true],
  ['tier', false],
  ['!tier', true],
  ['! app', false],
  ['empty=', true],
])('%s: %s', (text, matches) => {
  expect(parseLabelSelector(text)?.(labels)).toBe(matches);
});

test.each(['', 'app=web,', 'app=a=b', 'app in web', 'app in (a', '=web'])('%j is no label selector', (text) => {
  expect(parseLabelSelector(text)).toBeUndefined();
});
