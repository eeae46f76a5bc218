import { asRecord } from '@sluice/platform';
import type { RawObject } from './cluster.ts';

/**
 * The object that a deletion has returned, if it stays until its finalizers are removed. API servers return a deleted object in its
 * last state, or a Status.
 */
export function heldBack(object: RawObject): RawObject | undefined {
  const { deletionTimestamp, finalizers } = asRecord(object.metadata);
  return deletionTimestamp !== undefined && Array.isArray(finalizers) && finalizers.length > 0 ? object : undefined;
}
