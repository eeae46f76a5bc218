/** Key prefix with a hash tag: a Redis Cluster keeps all keys of one scope or group on one node, as scripts require. */
export function hashTagged(fleet: string, part: string): string {
  return `{${fleet}:${part}}`;
}
