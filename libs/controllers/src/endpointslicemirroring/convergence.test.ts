import type { Endpoints } from '@sluice/model';
import { aService, someEndpoints } from '@sluice/model/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyPlan, nothingWritten, type WrittenObjects } from '../testing/apply-plan.ts';
import { reconcileMirroring } from './controller.ts';

const service = aService({ selector: null });
const address = fc
  .tuple(fc.nat(9), fc.constantFrom('10.0.0.', 'fd00::', 'not an address '), fc.constantFrom({}, { hostname: 'h' }))
  .map(([number, prefix, more]) => ({ ip: `${prefix}${number}`, ...more }));
const port = fc.record({
  name: fc.constantFrom('a', 'b'),
  port: fc.constantFrom(80, 81),
  protocol: fc.constant('TCP'),
});
const subset = fc.record({
  addresses: fc.array(address, { maxLength: 6 }),
  notReadyAddresses: fc.array(address, { maxLength: 3 }),
  ports: fc.oneof(fc.array(port, { maxLength: 2 }), fc.constant([{ port: 80, appProtocol: 'h2c' }])),
});
const endpoints: fc.Arbitrary<Endpoints> = fc
  .record({
    subsets: fc.array(subset, { maxLength: 3 }),
    labels: fc.constantFrom<Record<string, string>>({}, { team: 'x' }, { 'kubernetes.io/service-name': 'odd' }),
    uid: fc.constantFrom('one', 'two'),
  })
  .map(({ subsets, labels, uid }) =>
    someEndpoints({ subsets, metadata: { name: 'web', namespace: 'shop', uid, labels } }),
  );

function pass(object: Endpoints, before: WrittenObjects, max: number) {
  const inputs = { service, endpoints: object, slices: before.slices.values(), maxEndpointsPerSubset: max };
  const { plan } = reconcileMirroring(inputs);
  return { plan, after: applyPlan(before, plan) };
}

it('mirrored slices converge in one pass, with one per family and port group, within limits (H15, H19, K3)', () => {
  fc.assert(
    fc.property(
      fc.array(endpoints, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 5 }),
      (versions, max) => {
        let written = nothingWritten;
        for (const version of versions) {
          written = pass(version, written, max).after;
          expect(pass(version, written, max).plan.groups).toEqual([]);
          const slices = [...written.slices.values()];
          for (const slice of slices) expect(slice.endpoints?.length).toBeLessThanOrEqual(max);
          const kinds = slices.map(({ addressType, ports }) => `${addressType} ${JSON.stringify(ports)}`);
          expect(new Set(kinds).size).toBe(kinds.length);
        }
      },
    ),
  );
});
