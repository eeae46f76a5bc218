import { isDeepStrictEqual } from 'node:util';
import type { Bus } from '@sluice/bus';
import { decodeMessage } from '@sluice/messages';

/**
 * The same bus, which accepts only messages that may be handed on by reference: the bytes must say the same, and nobody
 * can change them any more.
 */
export function referenceCheck(bus: Bus): Bus {
  return {
    partitions: bus.partitions,
    limits: bus.limits,
    append(topic, partition, records) {
      for (const { id, payload, message } of records) {
        if (message === undefined) continue;
        const { version: _, ...said } = JSON.parse(new TextDecoder().decode(payload));
        if (!isDeepStrictEqual(decodeMessage(payload), said))
          throw new Error(`${id}: bytes lose what the message says`);
        if (!isDeepStrictEqual(said, message)) throw new Error(`${id}: the message says what bytes cannot`);
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
