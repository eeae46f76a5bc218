import type { Rows } from '../check-values.ts';
import { bytes, count, duration, setting, times } from '../source-values.ts';

const pace = 'services/watcher/src/resync-pace.ts';
const partitions = setting('partitions');
const sizeOfPartition = setting('bus.maxBytes.changes');

export const measurements: Rows = {
  'docs/contributing/chaos.md': [
    ['(SIGSTOP for {})', duration('chaos/src/fleet/faults.ts', 'freezeMs')],
    ['up to {} actions before', count('chaos/src/chaos-run.ts', 'snapshotEvery')],
    ['After every {} actions', count('chaos/src/chaos-run.ts', 'convergeEvery')],
    ['Within {} the fleet must', duration('chaos/src/wait-until-converged.ts', 'limitMs')],
  ],
  'docs/operations/capacity.md': [
    ['`console.maxServices` ({}) Services', setting('console.maxServices')],
    ['NATS disk | ({} × 2 × partitions) + {}', sizeOfPartition, setting('bus.maxBytes.requests')],
    ['{} with {} partitions |', times(sizeOfPartition, 2 * Number(partitions.value)), partitions],
    ['throttled for {} as a whole', setting('leases.ttl')],
    ['partitions | {};', partitions],
    ['`bus.maxBytes.mutations`, at most {}.', bytes('libs/bus/src/bus.ts', 'largestMessageBytes')],
    ['(within {}) at {}/s', duration(pace, 'windowMs'), bytes(pace, 'firstRate')],
    ['down to {}/s', bytes(pace, 'lowestRate')],
  ],
};
