import type { LogicalCluster, LogicalServiceList } from '../../src/view/schemas.ts';
import { duration } from '../format.ts';

/** `not answering, known up to 4m ago; its endpoints count for another 6m` */
export function lostText(
  { since, reason }: NonNullable<LogicalCluster['lost']>,
  { action, maxAgeMs }: LogicalServiceList['lostClusters'],
  now: number,
): string {
  if (since === 0) return `${reason}; nothing is known of it`;
  const ageMs = Math.max(0, now - since);
  const known = `${reason}, known up to ${duration(ageMs)} ago; its endpoints`;
  if (action === 'keep') return `${known} count without a limit`;
  if (action === 'drop') return `${known} do not count`;
  if (ageMs >= maxAgeMs) return `${known} no longer count (limit: ${duration(maxAgeMs)})`;
  return `${known} count for another ${duration(maxAgeMs - ageMs)}`;
}
