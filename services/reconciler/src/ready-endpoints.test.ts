import { expect, test } from 'vitest';
import { ReadyEndpoints } from './ready-endpoints.ts';

const [web, db] = ['c/shop/web', 'c/shop/db'];

test('sums the other Services of the same cluster and controller', () => {
  const ready = new ReadyEndpoints();
  ready.set(db, 'c', 'endpointslice', 10);
  ready.set('other/shop/web', 'other', 'endpointslice', 100);
  ready.set(db, 'c', 'endpoints', 1_000);
  ready.set(web, 'c', 'endpointslice', 2);
  expect(ready.elsewhere(web, 'c', 'endpointslice')).toBe(10);
  expect(ready.elsewhere(db, 'c', 'endpointslice')).toBe(2);
  ready.set(web, 'c', 'endpointslice', 3);
  expect(ready.elsewhere(db, 'c', 'endpointslice')).toBe(3);
});

test('a removed Service is not counted', () => {
  const ready = new ReadyEndpoints();
  ready.set(web, 'c', 'endpointslice', 5);
  ready.set(web, 'c', 'endpoints', 5);
  ready.set(db, 'c', 'endpointslice', 1);
  ready.remove(web, 'c');
  expect(ready.elsewhere(db, 'c', 'endpointslice')).toBe(0);
  expect(ready.elsewhere(web, 'c', 'endpointslice')).toBe(1);
  expect(ready.has(web, 'endpoints')).toBe(false);
});

test('a Service or cluster that is not known has none', () => {
  const ready = new ReadyEndpoints();
  expect(ready.has(web, 'endpoints')).toBe(false);
  expect(ready.elsewhere(web, 'c', 'endpoints')).toBe(0);
  ready.remove(web, 'c');
  ready.set(web, 'c', 'endpoints', 5);
  expect(ready.has(web, 'endpoints')).toBe(true);
  expect(ready.has(web, 'endpointslice')).toBe(false);
  expect(ready.elsewhere(db, 'c', 'endpoints')).toBe(5);
});
