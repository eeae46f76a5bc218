import { isDeepStrictEqual } from 'node:util';
import type { Bus } from '@sluice/bus';
import { decodeMessage } from '@sluice/messages';

/**
 * A bus that reports messages unsuitable for delivery by reference, whose decoded form differs, and freezes all
 * messages, so that a change of one throws.
 */
export function referenceCheck(bus: Bus, report: (difference: string) => void): Bus {
  return {
    partitions: bus.partitions,
    limits: bus.limits,
    append(topic, partition, records) {
      for (const { id, payload, message } of records) {
        if (message === undefined) continue;
        const { version: _, ...said } = JSON.parse(new TextDecoder().decode(payload));
        if (!isDeepStrictEqual(decodeMessage(payload), said)) report(`${id}: decoding loses part of the message`);
        if (!isDeepStrictEqual(said, message)) report(`${id}: the message contains what cannot be encoded`);
        deepFreeze(message);
      }
      return bus.append(topic, partition, records);
    },
    read: (topic, partition, after) => bus.read(topic, partition, after),
    beginning: (topic, partition) => bus.beginning(topic, partition),
    end: (topic, partition) => bus.end(topic, partition),
    close: () => bus.close(),
  };
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
}
