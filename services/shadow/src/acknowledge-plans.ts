import { type Bus, recordId, streamStart } from '@sluice/bus';
import { decodeMessage, encodeMessage, type Outcome, partitionOf } from '@sluice/messages';
import type { Clock } from '@sluice/platform';

const recordsRead = 256;

/**
 * Replaces the writer: acknowledges every plan as applied without results. The reconciler then continues from the objects
 * in the cluster and decides again when they change.
 */
export async function acknowledgePlans(bus: Bus, clock: Clock, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Array.from({ length: bus.partitions }, (_, partition) => acknowledge(bus, partition, clock, signal)),
  );
}

async function acknowledge(bus: Bus, partition: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const reader = bus.read('mutations', partition, streamStart);
  const close = () => reader.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  for (;;) {
    const records = await reader.next(recordsRead);
    if (records.length === 0) return;
    for (const { id, key, payload } of records) {
      const plan = decodeMessage(payload);
      if (plan.kind !== 'mutations') continue;
      const outcome: Outcome = {
        kind: 'outcome',
        key: plan.key,
        controller: plan.controller,
        plan: plan.plan,
        status: 'applied',
        results: [],
        message: '',
        causes: plan.causes,
        decidedAt: plan.decidedAt,
        completedAt: clock.now(),
        retries: 0,
      };
      const record = { key, id: recordId(id, 'shadow'), headers: {}, payload: encodeMessage(outcome) };
      await bus.append('changes', partitionOf(key, bus.partitions), [record]);
    }
    const last = records.at(-1);
    if (last !== undefined) reader.release(last.offset);
  }
}
