import { expect, test } from 'vitest';
import { lossText, zonesText } from './loss-text.ts';

const loss = (share: number, loadFactor: number | null) =>
  lossText({ cluster: 'west-uid', clusterName: 'west', share, loadFactor });

test('says what the loss of a cluster means', () => {
  expect(loss(0.4, 5 / 3)).toBe('40 % of the ready endpoints; each other gets 1.7 × its load');
  expect(loss(0.02, 1 / 0.98)).toBe('2 % of the ready endpoints; each other gets 1.02 × its load');
  expect(loss(0.001, 1 / 0.999)).toMatch(/^<1 %.*1\.00 ×/);
  expect(loss(0.99, 100)).toMatch(/100 × its load$/);
  expect(loss(1, null)).toBe('all ready endpoints; nothing serves it');
});

test('lists endpoints by zone', () => {
  const counts = { serving: 0, terminating: 0 };
  const zones = [
    { zone: '', ready: 1, all: 1, ...counts },
    { zone: 'zone-a', ready: 2, all: 3, ...counts },
  ];
  expect(zonesText(zones)).toBe('unknown zone 1/1, zone-a 2/3');
  expect(zonesText([])).toBe('–');
});
