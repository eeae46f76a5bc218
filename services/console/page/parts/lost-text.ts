import type { LogicalCluster, LogicalServiceList } from '../../src/view/schemas.ts';
import { duration } from '../format.ts';

/** `not answering for 4m; its last known endpoints count for another 6m` */
export function lostText(
  { lostSince }: Pick<LogicalCluster, 'lostSince'>,
  { action, maxAgeMs }: LogicalServiceList['lostClusters'],
  now: number,
): string {
  if (lostSince === null || lostSince === 0) return 'not watched yet; nothing is known of it';
  const ageMs = Math.max(0, now - lostSince);
  const since = `not answering for ${duration(ageMs)}; its last known endpoints`;
  if (action === 'keep') return `${since} count until it answers`;
  if (action === 'drop') return `${since} do not count`;
  if (ageMs >= maxAgeMs) return `${since} no longer count (limit: ${duration(maxAgeMs)})`;
  return `${since} count for another ${duration(maxAgeMs - ageMs)}`;
}
