import type { Section } from './rule.ts';
import { settingsRules } from './rules/a-settings.ts';
import { queueRules } from './rules/b-queues.ts';
import { podRules } from './rules/c-pods.ts';
import { trackerRules } from './rules/c-trackers.ts';
import { endpointsRules } from './rules/d-endpoints.ts';
import { subsetRules } from './rules/d-subsets.ts';
import { endpointSliceRules } from './rules/e-endpointslice.ts';
import { packingRules } from './rules/e-packing.ts';
import { topologyHintRules } from './rules/f-topology-hints.ts';
import { trafficDistributionRules } from './rules/g-traffic-distribution.ts';
import { mirroredSliceRules } from './rules/h-mirrored-slices.ts';
import { mirroringInputRules } from './rules/h-mirroring.ts';
import { metricsRules } from './rules/i-metrics.ts';
import { eventRules } from './rules/j-events.ts';
import { apiServerRules } from './rules/k-api-server.ts';
import { hashingRules } from './rules/l-hashing.ts';

export const sections: readonly Section[] = [
  { heading: 'A. Settings, permissions', rules: settingsRules },
  { heading: 'B. Queues, retries, errors', rules: queueRules },
  { heading: 'C. Shared library', rules: [...podRules, ...trackerRules] },
  { heading: 'D. Endpoints', rules: [...endpointsRules, ...subsetRules] },
  { heading: 'E. EndpointSlice', rules: [...endpointSliceRules, ...packingRules] },
  { heading: 'F, G. Hints', rules: [...topologyHintRules, ...trafficDistributionRules] },
  { heading: 'H. Mirroring', rules: [...mirroringInputRules, ...mirroredSliceRules] },
  { heading: 'I. Metrics', rules: metricsRules },
  { heading: 'J. Events', rules: eventRules },
  { heading: 'K. The API server', rules: apiServerRules },
  { heading: 'L. Hashing and order', rules: hashingRules },
];
