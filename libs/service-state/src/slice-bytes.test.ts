import type { EndpointSlice } from '@sluice/controllers';
import { expect, test } from 'vitest';
import { sliceBytes } from './slice-bytes.ts';

const sliceOf = (addresses: readonly string[]): EndpointSlice => ({
  metadata: { name: 'web-x7k2p', namespace: 'shop' },
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({
    ...{ addresses: [address], nodeName: 'node-a', zone: 'zone-a', hostname: 'web' },
    targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-0' },
  })),
});

test.each([0, 1, 7, 8, 9, 100, 1000])('a slice with %d similar endpoints has the bytes of all of them', (count) => {
  const perEndpoint = 85 + 'node-a'.length + 'zone-a'.length + 'web'.length + 'shop'.length + 'web-0'.length + 8;
  expect(sliceBytes(sliceOf(Array(count).fill('10.0.0.1')))).toBe(900 + 6 * 'web-x7k2p'.length + count * perEndpoint);
});

test('endpoints of different sizes are measured all over the slice', () => {
  const [short, long] = ['10.0.0.1', '255.255.255.255'];
  const mixed = sliceBytes(sliceOf([...Array(50).fill(short), ...Array(50).fill(long)]));
  const [low, high] = [short, long].map((address) => sliceBytes(sliceOf(Array(100).fill(address)))) as [number, number];
  expect(Math.abs(mixed - (low + high) / 2)).toBeLessThan((high - low) / 8);
});
