/** How many partitions each topic has unless configured otherwise. Fixed for the life of a fleet. */
export const defaultPartitions = 64;

/** The partition of a service key. */
export function partitionOf(key: string, partitions: number): number {
  return hash32(key) % partitions;
}

/**
 * A number from 0 to 2³² − 1: FNV-1a over the text's UTF-16 code units, finished with an avalanche so that texts which
 * differ in their last characters are far apart.
 */
export function hash32(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
