import { recycleSlices } from '@sluice/controllers';
import type { AddressType, EndpointSlice } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { recycleByName } from './recycling-by-name.ts';

const aSlice = (name: string, given: Partial<EndpointSlice>): EndpointSlice => ({
  metadata: { name, namespace: 'shop', resourceVersion: '7' },
  addressType: 'IPv4',
  endpoints: [],
  ports: [],
  ...given,
});
const body = (addressType: AddressType, port: number): EndpointSlice =>
  aSlice('', { addressType, ports: [{ name: 'http', protocol: 'TCP', port }] });
const existing = (name: string, addressType: AddressType): EndpointSlice => aSlice(name, { addressType });
const names = (slices: readonly EndpointSlice[]) => slices.map(({ metadata }) => metadata.name);

describe('recycling by name (H19)', () => {
  it('is correct with one family, or with a favourable map order', () => {
    const toCreate = [body('IPv4', 80), body('IPv6', 80)];
    const toDelete = [existing('a', 'IPv6')];
    const lucky = recycleByName(toCreate, toDelete);
    const right = recycleSlices(toCreate, toDelete);
    expect(lucky.creates.map(({ addressType }) => addressType)).toEqual(['IPv4']);
    expect(lucky.updates.map((update) => update.existing.metadata.name)).toEqual(['a']);
    expect(names(lucky.deletes)).toEqual(names(right.deletes));
  });

  it('leaves creates that cannot succeed when the families alternate', () => {
    const toCreate = [body('IPv4', 80), body('IPv6', 80), body('IPv4', 81), body('IPv6', 81)];
    const toDelete = [existing('a', 'IPv4'), existing('b', 'IPv6'), existing('c', 'IPv4'), existing('d', 'IPv6')];
    expect(names(recycleByName(toCreate, toDelete).creates).filter((name) => name !== '')).not.toEqual([]);
    expect(recycleSlices(toCreate, toDelete)).toMatchObject({ creates: [], deletes: [] });
  });

  it('leaves all deletes if there is nothing to create', () => {
    const toDelete = [existing('a', 'IPv4')];
    expect(recycleByName([], toDelete)).toEqual({ creates: [], updates: [], deletes: toDelete });
  });
});
