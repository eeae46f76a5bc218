import type { EndpointSlice } from '@sluice/model';
import { aService, aSlice } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { withPlaceholder } from './reconcile-by-address-type.ts';

const empty = aSlice('s', { ports: [] });
const withLabels = (labels: Record<string, string>) =>
  aSlice('s', { ports: [], metadata: { ...empty.metadata, labels: { ...empty.metadata.labels, ...labels } } });

/** How many slices are created and deleted if all of these are to be deleted. */
function afterDeletionOf(...toDelete: readonly EndpointSlice[]) {
  const changes = withPlaceholder({ toCreate: [], toUpdate: [], toDelete }, aService(), 'IPv4', toDelete);
  return { creates: changes.toCreate.length, deletes: changes.toDelete.length };
}
const kept = { creates: 0, deletes: 0 };
const replaced = { creates: 1, deletes: 1 };

describe('an address type keeps a slice (E24)', () => {
  it('without another one while one stays or is created', () => {
    const stays = { toCreate: [], toUpdate: [], toDelete: [empty] };
    expect(withPlaceholder(stays, aService(), 'IPv4', [empty, aSlice('t')])).toBe(stays);
    const creates = { toCreate: [aSlice('')], toUpdate: [], toDelete: [empty] };
    expect(withPlaceholder(creates, aService(), 'IPv4', [empty])).toBe(creates);
  });

  it('which is new if there is none, or if all have to go', () => {
    expect(afterDeletionOf()).toEqual({ creates: 1, deletes: 0 });
    expect(afterDeletionOf(aSlice('s'))).toEqual(replaced);
    expect(afterDeletionOf(empty, empty)).toEqual({ creates: 1, deletes: 2 });
  });

  it.each<[string, EndpointSlice]>([
    ['it has empty lists', empty],
    ['it has no lists', { ...empty, endpoints: null, ports: null }],
    ['it has an empty label that it need not have', withLabels({ mine: '' })],
  ])('which is the last one if %s', (_, slice) => {
    expect(afterDeletionOf(slice)).toEqual(kept);
  });

  it.each<[string, EndpointSlice]>([
    ['another address type', { ...empty, addressType: 'IPv6' }],
    ['another namespace', aSlice('s', { ports: [], metadata: { ...empty.metadata, namespace: 'other' } })],
    ['endpoints', { ...empty, endpoints: [{ addresses: ['10.0.0.1'] }] }],
    ['ports', { ...empty, ports: [{}] }],
    ['a label of a user', withLabels({ mine: 'x' })],
    ['another value of a label', withLabels({ 'kubernetes.io/service-name': 'other' })],
    ['no labels', aSlice('s', { ports: [], metadata: { ...empty.metadata, labels: {} } })],
    ['an unknown field', { ...empty, ...{ novelty: 1 } }],
  ])('which is new if the last one has %s', (_, slice) => {
    expect(afterDeletionOf(slice)).toEqual(replaced);
  });
});
