/**
 * Compares resourceVersions of one resource type of one cluster, which are integers of arbitrary length (KEP-5504).
 * Negative if `a` is older. Anything else counts as older than every number.
 */
export function compareResourceVersions(a: string, b: string): number {
  const left = significant(a);
  const right = significant(b);
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

function significant(version: string): string {
  return /^[0-9]+$/.test(version) ? version.replace(/^0+/, '') : '';
}
