import { expect, it } from 'vitest';
import { withoutHashOrder } from './hash-order.ts';

const [http, dns] = [
  { name: 'http', port: 80 },
  { name: 'dns', port: 53 },
];

it('sorts ports and subsets at any depth', () => {
  const endpoints = { subsets: [{ ports: [http, dns] }, { addresses: [{ ip: '10.0.0.1' }], ports: [http] }] };
  const other = { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [http] }, { ports: [dns, http] }] };
  expect(withoutHashOrder(endpoints)).toEqual(withoutHashOrder(other));
  expect(withoutHashOrder({ endpointslices: [{ ports: [http, dns] }] })).toEqual({
    endpointslices: [{ ports: [dns, http] }],
  });
});

it('keeps every other order and all values', () => {
  const endpoints = { addresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1' }], ports: [http] };
  expect(withoutHashOrder(endpoints)).toEqual(endpoints);
  expect(withoutHashOrder({ ports: [http, http] })).not.toEqual(withoutHashOrder({ ports: [http] }));
  expect(withoutHashOrder({ ports: [http] })).not.toEqual(withoutHashOrder({ ports: [{ ...http, port: 81 }] }));
});
