import { aService, someEndpoints } from '@sluice/model/testing';
import { expect, test } from 'vitest';
import { mirroringController } from './controller.ts';

test.each([
  ['without Endpoints', aService({ selector: null }), null, true],
  ['without Service', null, someEndpoints(), true],
  ['with selector', aService(), someEndpoints(), true],
  ['without selector', aService({ selector: null }), someEndpoints(), false],
  [
    'excluded',
    aService({ selector: null }),
    someEndpoints({
      metadata: { name: 'web', namespace: 'shop', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    }),
    true,
  ],
])('a Service needs no mirrored slice: %s (H6)', (_, service, endpoints, needsNone) => {
  expect(mirroringController.trackers.needsNone?.(service, endpoints)).toBe(needsNone);
});
