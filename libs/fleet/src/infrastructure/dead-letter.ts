import type { Delivery } from '@sluice/bus';
import type { RoleOptions } from '../roles/role.ts';

/** Stores a record that cannot be processed as a dead letter. */
export function deadLetter(
  { deadLetters, clock, onDeadLetter }: RoleOptions,
  topic: 'changes' | 'mutations',
  partition: number,
) {
  return (record: Delivery, reason: string): Promise<void> => {
    onDeadLetter?.(topic);
    const { id, key, headers, payload, offset } = record;
    return deadLetters.add({
      topic,
      partition,
      offset,
      deadLetteredAt: clock.now(),
      reason,
      record: { id, key, headers, payload },
    });
  };
}
