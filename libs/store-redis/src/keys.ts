/**
 * Names of keys. What is in braces decides where a Redis Cluster keeps a key, so all keys of one scope (group, and so
 * on) are on one node and one script may touch them.
 */
export function tagged(fleet: string, part: string): string {
  return `{${fleet}:${part}}`;
}
