import { expect, test } from 'vitest';
import type { PropagationView } from '../view/schemas.ts';
import { printVerification } from './print-verification.ts';
import { textFormatFor } from './text.ts';

const now = new Date(2026, 0, 1, 12, 0, 0).getTime();
const propagation: PropagationView = {
  ...{ cluster: 'uid', clusterName: 'west', namespace: 'shop', name: 'web', pod: 'web-1', place: 'slices' },
  ...{ from: 'ready', to: 'not ready', event: 'Pod shop/web-1 became not ready' },
  ...{ startedAt: now - 60_000, isStartKnown: true, endedAt: now - 59_993, end: 'written' },
};
const print = (verification: Parameters<typeof printVerification>[1]) =>
  printVerification('Service shop/web in west', verification, textFormatFor({ columns: 200 }, now));

test('what is right is right since the last change', () => {
  const text = print({ wrong: [], latest: [propagation] });
  expect(text).toContain('slices: as they should be since 11:59:00.007, 7.0 ms after: Pod shop/web-1 became not ready');
  expect(text).toContain('Endpoints: as they should be, as far as recorded');
  expect(print({ wrong: [], latest: [{ ...propagation, isStartKnown: false }] })).toMatch(/since 11:59:00.007\n/);
});

test('what is wrong names the Pods', () => {
  const wrong = { ...propagation, place: 'Endpoints', endedAt: null, end: null } as const;
  const text = print({ wrong: [wrong, { ...wrong, pod: 'web-2', isStartKnown: false }], latest: [propagation] });
  expect(text).toContain('Endpoints: wrong since before 11:59:00.000');
  expect(text).toContain('web-2 is shown as ready and should be not ready: Pod shop/web-1 became not ready');
  expect(text).toContain('slices: as they should be since');
  expect(print({ wrong: [wrong], latest: [] })).toContain('Endpoints: wrong since 11:59:00.000');
});
