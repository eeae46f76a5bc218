/** How many partitions each topic has unless configured otherwise. Fixed for the life of a fleet. */
export const defaultPartitions = 64;

/**
 * The partition of a service key: FNV-1a over its UTF-16 code units, finished with an avalanche so that names which
 * differ in their last characters spread over all partitions.
 */
export function partitionOf(key: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % partitions;
}
