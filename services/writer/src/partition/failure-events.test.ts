import type { Mutation } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { heldBackReasons } from '../confirmation/confirm-changes.ts';
import { aPlan, create, remove, someEndpoints, update } from '../testing/plans.ts';
import { failureEvents, failureText } from './report-outcome.ts';

const endpoints = (verb: 'create' | 'update'): Mutation => ({ verb, resource: 'endpoints', object: someEndpoints });
const failed = (...mutations: readonly Mutation[]) => ({
  failures: mutations.map((mutation) => ({ mutation, message: 'no' })),
});

describe('Events', () => {
  test('of Endpoints: one per failed write, none for a delete (D24)', () => {
    const plan = aPlan([], { controller: 'endpoints' });
    const failures = failed(endpoints('create'), endpoints('update'), remove('web', 'endpoints'));
    expect(failureEvents(plan, failures).map(({ reason }) => reason)).toEqual([
      ...['FailedToCreateEndpoint', 'FailedToUpdateEndpoint'],
    ]);
    expect(failureEvents(plan, failed())).toEqual([]);
  });

  test('of slices: one for all failures and what is incomplete, about the Service', () => {
    const plan = aPlan([], { incomplete: ['Node n1 Not Found'] });
    expect(failureEvents(plan, failed(create('a'), update('b')))).toEqual([
      {
        type: 'Warning',
        reason: 'FailedToUpdateEndpointSlices',
        message: expect.stringMatching(/^Error updating Endpoint Slices for Service shop\/web: \[Node n1 Not Found, /),
        regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'service-uid' },
      },
    ]);
    expect(failureEvents(aPlan([]), failed())).toEqual([]);
  });

  test('of mirroring: none', () => {
    expect(failureEvents(aPlan([], { controller: 'endpointslicemirroring' }), failed(create('a')))).toEqual([]);
  });

  test.each([
    ['removal', 'EndpointRemovalHeldBack'],
    ['addition', 'EndpointAdditionHeldBack'],
  ] as const)('of a %s that was held back: one of Sluice’s own, whatever the controller', (change, reason) => {
    const message = `${heldBackReasons[change]}: 2 of them`;
    const regarding = { kind: 'Service', namespace: 'shop', name: 'web' };
    for (const controller of ['endpoints', 'endpointslice', 'endpointslicemirroring'] as const) {
      expect(failureEvents(aPlan([], { controller }), { failures: [], message })).toEqual([
        { type: 'Warning', reason, message, regarding: { ...regarding, uid: 'service-uid' } },
      ]);
    }
    expect(failureEvents(aPlan([], { serviceUid: '' }), { failures: [], message })).toMatchObject([{ regarding }]);
    expect(failureEvents(aPlan([], { serviceUid: '' }), { failures: [], message })[0]?.regarding).toEqual(regarding);
  });

  test('of a plan with another message are those of its failures', () => {
    expect(failureEvents(aPlan([]), { failures: [], message: 'superseded by plan 2/2' })).toEqual([]);
  });
});

describe('the text of a failure', () => {
  test('is that of its Events', () => {
    expect(failureText(aPlan([]), failed(update('b')))).toBe(
      'Error updating Endpoint Slices for Service shop/web: failed to update b EndpointSlice for Service shop/web: no',
    );
    const plan = aPlan([], { controller: 'endpoints' });
    expect(failureText(plan, failed(endpoints('create'), endpoints('update')))).toBe(
      'Failed to create endpoint for service shop/web: no; Failed to update endpoint shop/web: no',
    );
  });

  test('of mirroring names each failed write, or how much of a clean-up failed', () => {
    const mirroring = { controller: 'endpointslicemirroring' } as const;
    const [a, b] = [update('a'), update('b')];
    expect(failureText(aPlan([[a, b]], mirroring), failed(a, b))).toBe(
      '[failed to update a EndpointSlice for Endpoints shop/web: no, failed to update b EndpointSlice for Endpoints shop/web: no]',
    );
    expect(failureText(aPlan([[a]], mirroring), failed())).toBe('');
    expect(failureText(aPlan([[remove('a')], [remove('b')]], mirroring), failed(remove('a')))).toContain(
      'deleting 1/2',
    );
  });
});
