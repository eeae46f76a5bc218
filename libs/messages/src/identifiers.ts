/** Identifies a Service of a cluster. All its messages are in one partition, in order. */
export interface ServiceKey {
  /** Identity of the cluster: the UID of its namespace kube-system. */
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
}

export function formatServiceKey(key: ServiceKey): string {
  return `${key.cluster}/${key.namespace}/${key.service}`;
}

export function isServiceKey(text: string): boolean {
  const parts = text.split('/');
  return parts.length === 3 && parts.every((part) => part !== '');
}

/** Parses a formatted key. Throws RangeError. Kubernetes names contain no slash. */
export function parseServiceKey(text: string): ServiceKey {
  const [cluster = '', namespace = '', service = ''] = text.split('/');
  if (!isServiceKey(text)) {
    throw new RangeError(`service key ${JSON.stringify(text)}: expected CLUSTER/NAMESPACE/SERVICE`);
  }
  return { cluster, namespace, service };
}

/** Default number of partitions per topic; fixed for one generation of a fleet. */
export const defaultPartitions = 16;

/** The partition of a service key. */
export function partitionOf(key: string, partitions: number): number {
  return hash32(key) % partitions;
}

/**
 * An unsigned 32-bit hash: FNV-1a over UTF-16 code units with an avalanche finish, so that keys that differ only in their
 * last characters spread evenly.
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

/**
 * Orders the Changes of a cluster: `epoch` is the fencing token of the watcher's lease, `sequence` increases with each of
 * its Changes. A fact that arrives after a newer one is ignored.
 */
export interface Stamp {
  readonly epoch: number;
  readonly sequence: number;
}

/** Negative if `a` is older, zero if they are equal, positive if `a` is newer. */
export function compareStamps(a: Stamp, b: Stamp): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

export function isStamp(value: unknown): value is Stamp {
  if (typeof value !== 'object' || value === null || !('epoch' in value) || !('sequence' in value)) return false;
  return Number.isInteger(value.epoch) && Number.isInteger(value.sequence);
}

/** Identifies a plan. `number` increases with each plan of a partition, across Services; `epoch` with each partition owner. */
export interface PlanId {
  readonly epoch: number;
  readonly number: number;
}

export function comparePlans(a: PlanId, b: PlanId): number {
  return a.epoch - b.epoch || a.number - b.number;
}

export function isPlanId(value: unknown): value is PlanId {
  if (typeof value !== 'object' || value === null || !('epoch' in value) || !('number' in value)) return false;
  return Number.isInteger(value.epoch) && Number.isInteger(value.number);
}
