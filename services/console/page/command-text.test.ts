import { expect, test } from 'vitest';
import { commandText } from './command-text.ts';

const route = { view: 'service', service: { cluster: 'prod', namespace: 'shop', name: 'cart' } } as const;
const at = Date.parse('2026-03-01T03:12:00.250Z');

test('explains the Service or one Pod at the time shown', () => {
  expect(commandText('explain', route, at)).toBe(
    'sluice explain shop/cart --cluster prod --at 2026-03-01T03:12:00.250Z',
  );
  expect(commandText('explain', { ...route, pod: 'cart-1', range: { since: 0, until: at } }, at)).toBe(
    'sluice explain shop/cart --cluster prod --pod cart-1 --at 2026-03-01T03:12:00.250Z',
  );
});

test('prints the history of the range shown', () => {
  expect(commandText('history', route, at)).toBe('sluice history shop/cart --cluster prod');
  expect(commandText('history', { ...route, pod: 'cart-1', range: { since: at - 1_000, until: at } }, at)).toBe(
    'sluice history shop/cart --cluster prod --pod cart-1 --since 2026-03-01T03:11:59.250Z --until 2026-03-01T03:12:00.250Z',
  );
});

test('quotes names that a shell would change', () => {
  const service = { ...route.service, cluster: "it's $HOME" };
  expect(commandText('history', { ...route, service }, at)).toBe(
    String.raw`sluice history shop/cart --cluster 'it'\''s $HOME'`,
  );
});
