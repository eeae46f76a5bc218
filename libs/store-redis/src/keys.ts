/** Key prefix with a hash tag: a Redis Cluster keeps all keys of one scope or group on one node, as scripts require. */
export function hashTagged(fleet: string, part: string): string {
  return `{${fleet}:${part}}`;
}

export type GroupKeys = readonly [string, ...string[]];

/** The first key is also the Pub/Sub channel for changes. */
export function groupKeys(fleet: string, group: string): GroupKeys {
  const tag = hashTagged(fleet, `leases/${group}`);
  return [
    `${tag}:expiries`,
    ...['states', 'holders', 'starts', 'served', 'version', 'prepared'].map((part) => `${tag}:${part}`),
  ];
}
