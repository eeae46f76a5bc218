import { createHash } from 'node:crypto';
import type { WrittenResource } from '@sluice/model';

/**
 * Digest of a write's content that is equal for the object in a plan and for the same object in the API server's audit
 * log, where defaults are set and empty fields may be missing.
 */
export function contentDigest(resource: WrittenResource, object: unknown): string {
  const { metadata, ...content } = record(object);
  const { labels, annotations, ownerReferences, generateName } = record(metadata);
  const { subsets, addressType, endpoints, ports } = content;
  const own = resource === 'endpoints' ? { subsets } : { addressType, endpoints, ports };
  const text = JSON.stringify(bare({ labels, annotations, ownerReferences, generateName, ...own }));
  return createHash('sha1').update(text).digest('base64url');
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Removes nulls, empty fields and default protocols, and sorts the keys. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => bare(element) ?? null);
  if (typeof value !== 'object') return value === '' ? undefined : value;
  if (value === null) return undefined;
  const members = Object.entries(value)
    .map(([key, member]) => [key, bare(member)] as const)
    .filter(([key, member]) => !isEmpty(member) && !(key === 'protocol' && member === 'TCP'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
