import { leaderAnnotation } from '@sluice/model';
import { aService, someEndpoints } from '@sluice/model/testing';
import { expect, it } from 'vitest';
import { isLeftover } from './is-leftover.ts';

const annotated = someEndpoints({
  metadata: { name: 'web', namespace: 'shop', annotations: { [leaderAnnotation]: '' } },
});

it('Endpoints are left over without a Service, unless leader election uses them (D4)', () => {
  expect([isLeftover(someEndpoints(), null), isLeftover(someEndpoints(), undefined)]).toEqual([true, true]);
  expect(isLeftover(someEndpoints(), aService())).toBe(false);
  expect(isLeftover(annotated, null)).toBe(false);
  expect(isLeftover(undefined, null)).toBe(false);
});
