import { expect, test } from 'vitest';
import { sumMetrics } from './worker-metrics.ts';

test('sums each metric over its labels', () => {
  const text = [
    '# TYPE sluice_dead_letters_total counter',
    'sluice_dead_letters_total{topic="changes"} 2',
    'sluice_dead_letters_total{topic="mutations"} 1',
    'sluice_parked_services{controller="endpoints"} 4',
    'sluice_lease_held{role="writer",scope="1"} 1',
  ].join('\n');
  expect(Object.fromEntries(sumMetrics(text))).toEqual({
    sluice_dead_letters_total: 3,
    sluice_state_digest_mismatches_total: 0,
    sluice_malformed_objects_total: 0,
    sluice_lease_unreadable_entries_total: 0,
    sluice_parked_services: 4,
  });
});
