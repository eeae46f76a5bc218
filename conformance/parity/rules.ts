import type { Section } from './rule.ts';
import { settingsRules } from './rules/a-settings.ts';
import { queueRules } from './rules/b-queues.ts';
import { podRules } from './rules/c-pods.ts';
import { trackerRules } from './rules/c-trackers.ts';
import { endpointsRules } from './rules/d-endpoints.ts';
import { subsetRules } from './rules/d-subsets.ts';
import { mirroredSliceRules } from './rules/h-mirrored-slices.ts';
import { mirroringInputRules } from './rules/h-mirroring.ts';

export const sections: readonly Section[] = [
  { heading: 'A. Settings, permissions', rules: settingsRules },
  { heading: 'B. Queues, retries, errors', rules: queueRules },
  { heading: 'C. Shared library', rules: [...podRules, ...trackerRules] },
  { heading: 'D. Endpoints', rules: [...endpointsRules, ...subsetRules] },
  { heading: 'H. Mirroring', rules: [...mirroringInputRules, ...mirroredSliceRules] },
];
