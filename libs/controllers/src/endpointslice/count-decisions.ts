import type { Service } from '@sluice/model';
import type { EndpointSliceCounts, Hinting } from '../sync-counts.ts';
import type { AddressTypeDecision } from './reconcile-by-address-type.ts';
import { hintsEnabled } from './topology-hints.ts';
import { isValidTrafficDistribution } from './traffic-distribution.ts';

/**
 * Returns what the decisions for all address types of a Service contribute to the metrics. Unlike upstream, every type
 * counts (I1).
 */
export function countDecisions(service: Service, decisions: readonly AddressTypeDecision[]): EndpointSliceCounts {
  let [endpoints, slices, desiredSlices] = [0, 0, 0];
  for (const { totals } of decisions) {
    endpoints += totals.endpoints;
    slices += totals.slices;
    desiredSlices += totals.desiredSlices;
  }
  return {
    service: { endpoints, slices, desiredSlices, hinting: hintingOf(service) },
    addressTypes: decisions.map(({ counts }) => counts),
  };
}

function hintingOf({ annotations, trafficDistribution }: Service): Hinting {
  if (hintsEnabled(annotations)) return { topology: 'Auto', trafficDistribution: '' };
  const valid = isValidTrafficDistribution(trafficDistribution);
  return { topology: 'Disabled', trafficDistribution: valid ? trafficDistribution : '' };
}
