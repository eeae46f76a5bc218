import { expect, test } from 'vitest';
import { nearest } from './problems.ts';

test.each([
  ['pasword', 'password'],
  ['Servers', 'servers'],
  ['sevrers', 'servers'],
  ['tl', 'ttl'],
  ['server', 'servers'],
  ['kubeconfig', undefined],
])('%s: %s', (word, meant) => {
  expect(nearest(word, ['servers', 'password', 'ttl', 'heartbeat'])).toBe(meant);
});
