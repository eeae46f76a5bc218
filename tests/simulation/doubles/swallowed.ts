import type { BusRecord, Topic } from '@sluice/bus';
import type { PlannedMutations } from '@sluice/messages';
import { decode } from '../invariants/decode.ts';
import type { Scenario } from '../scenario.ts';

/**
 * The records that are lost because a layer is off. A writer that starts first skips the plans before it, so plans that were
 * decided before `warmAt` are sent again.
 */
export function swallowed({ disabled, recordBytes }: Scenario, warmAt: number) {
  const [withoutResyncs, withoutRedelivery] = [disabled.includes('resyncs'), disabled.includes('redelivery')];
  return (topic: Topic, { id, payload }: BusRecord): boolean => {
    // A new fleet begins with the snapshots that it requests.
    if (topic === 'requests') return withoutResyncs && !Buffer.from(payload).includes('no committed offset');
    // A chunk does not tell which plan it belongs to.
    if (topic !== 'mutations' || !withoutRedelivery || recordBytes !== null || !id.includes('/again/')) return false;
    return (decode(payload) as PlannedMutations).decidedAt > warmAt;
  };
}
