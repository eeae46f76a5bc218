import { aService, aSlice, someEndpoints } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { cleanUpFailureText, endpointSliceFailure, endpointsFailure, mirroringFailureText } from './failure-events.ts';

const service = aService();
const create = { verb: 'create', resource: 'endpointslices', object: aSlice('') } as const;
const update = { verb: 'update', resource: 'endpointslices', object: aSlice('web-1') } as const;
const remove = { verb: 'delete', resource: 'endpointslices', name: 'web-2' } as const;

describe('endpointSliceFailure (E11, E28)', () => {
  const message = (...args: Parameters<typeof endpointSliceFailure>) => endpointSliceFailure(...args)?.message;

  it('returns null without failures', () => {
    expect(endpointSliceFailure(service, [], [])).toBeNull();
  });

  it.each([
    ['create', create, 'failed to create EndpointSlice for Service shop/web: no'],
    ['update', update, 'failed to update web-1 EndpointSlice for Service shop/web: no'],
    ['delete', remove, 'failed to delete web-2 EndpointSlice for Service shop/web: no'],
    [
      'unsupported address type',
      { ...remove, unsupportedAddressType: true } as const,
      'error deleting web-2 EndpointSlice for Service shop/web: no',
    ],
  ])('words a failed %s', (_, mutation, text) => {
    expect(message(service, [{ mutation, message: 'no' }], [])).toBe(
      `Error updating Endpoint Slices for Service shop/web: ${text}`,
    );
  });

  it('is a Warning on the Service', () => {
    expect(endpointSliceFailure(service, [{ mutation: create, message: 'no' }], [])).toMatchObject({
      type: 'Warning',
      reason: 'FailedToUpdateEndpointSlices',
      regarding: { kind: 'Service', namespace: 'shop', name: 'web', uid: 'service-uid' },
    });
  });

  it('joins distinct texts only', () => {
    const failures = [create, create, remove].map((mutation) => ({ mutation, message: 'no' }));
    expect(message(service, failures, ['why'])).toBe(
      'Error updating Endpoint Slices for Service shop/web: [why, failed to create EndpointSlice for Service shop/web: no, failed to delete web-2 EndpointSlice for Service shop/web: no]',
    );
  });
});

it('failures name no UID that is unknown', () => {
  const { namespace, name } = service;
  for (const named of [
    { namespace, name },
    { namespace, name, uid: '' },
  ]) {
    const event = endpointSliceFailure(named, [], ['why']);
    expect(event?.regarding).toStrictEqual({ kind: 'Service', namespace, name });
  }
});

describe('endpointsFailure (D24)', () => {
  const object = someEndpoints();

  it('has no namespace for a create (J1)', () => {
    expect(
      endpointsFailure(service, { mutation: { verb: 'create', resource: 'endpoints', object }, message: 'no' }),
    ).toEqual({
      type: 'Warning',
      reason: 'FailedToCreateEndpoint',
      message: 'Failed to create endpoint for service shop/web: no',
      regarding: { kind: 'Endpoints', namespace: '', name: 'web' },
    });
  });

  it('names the object for an update and is null for a delete', () => {
    expect(
      endpointsFailure(service, { mutation: { verb: 'update', resource: 'endpoints', object }, message: 'no' }),
    ).toEqual({
      type: 'Warning',
      reason: 'FailedToUpdateEndpoint',
      message: 'Failed to update endpoint shop/web: no',
      regarding: { kind: 'Endpoints', namespace: 'shop', name: 'web', uid: 'endpoints-uid' },
    });
    expect(endpointsFailure(service, { mutation: { ...remove, resource: 'endpoints' }, message: 'no' })).toBeNull();
  });
});

it('failures of mirroring are worded as upstream does (H7, H20)', () => {
  expect(mirroringFailureText(service, { mutation: update, message: 'no' })).toBe(
    'failed to update web-1 EndpointSlice for Endpoints shop/web: no',
  );
  expect(cleanUpFailureText(service, ['no', 'never'], 3)).toBe(
    'error(s) deleting 2/3 EndpointSlices for shop/web Endpoints, including: no',
  );
});
