import { key } from '@sluice/service-state/testing';
import { expect, test } from 'vitest';
import { ReadyEndpoints } from './ready-endpoints.ts';

const db = { ...key, service: 'db' };

test('sums the other Services of the same cluster and controller', () => {
  const ready = new ReadyEndpoints();
  ready.set(db, 'endpointslice', 10);
  ready.set({ ...key, cluster: 'other' }, 'endpointslice', 100);
  ready.set(db, 'endpoints', 1_000);
  ready.set(key, 'endpointslice', 2);
  expect(ready.elsewhere(key, 'endpointslice')).toBe(10);
  expect(ready.elsewhere(db, 'endpointslice')).toBe(2);
  ready.set(key, 'endpointslice', 3);
  expect(ready.elsewhere(db, 'endpointslice')).toBe(3);
});

test('a removed Service is not counted', () => {
  const ready = new ReadyEndpoints();
  ready.set(key, 'endpointslice', 5);
  ready.set(key, 'endpoints', 5);
  ready.remove(key);
  expect(ready.elsewhere(db, 'endpointslice')).toBe(0);
  expect(ready.has(key, 'endpoints')).toBe(false);
});
