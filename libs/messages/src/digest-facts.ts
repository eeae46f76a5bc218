import { hash } from 'node:crypto';
import { type Digest, digestVersion, type Fact, type ObjectReference } from './change.ts';

/** Digest of the facts of one snapshot, in which each object occurs at most once. */
export function digestFacts(facts: readonly Fact[]): Digest {
  const hashed = { service: [], pods: [], topology: [] } as Record<'service' | 'pods' | 'topology', string[]>;
  const endpoints: ObjectReference[] = [];
  const slices: ObjectReference[] = [];
  for (const fact of facts) {
    switch (fact.kind) {
      case 'service':
        if (fact.service !== null) hashed.service.push(canonical(fact.service));
        break;
      case 'pod':
        if (fact.pod !== null) hashed.pods.push(canonical([fact.pod, fact.node]));
        break;
      case 'topology':
        if (fact.topology !== null) hashed.topology.push(canonical(fact.topology));
        break;
      case 'endpoints':
        if (fact.endpoints !== null) endpoints.push(reference(fact.endpoints.metadata));
        break;
      case 'slice':
        if (fact.slice !== null) slices.push(reference(fact.slice.metadata));
        break;
    }
  }
  return {
    version: digestVersion,
    service: hashOf(hashed.service),
    pods: hashOf(hashed.pods),
    topology: hashOf(hashed.topology),
    endpoints,
    slices: slices.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** A 16-character hash of a digest, for the store. */
export function shortDigest(digest: Digest): string {
  return hashOf([canonical(digest)]);
}

function reference(metadata: {
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}): ObjectReference {
  const { name, uid = '', resourceVersion = '' } = metadata;
  return { name, uid, resourceVersion };
}

function hashOf(texts: string[]): string {
  return texts.length === 0 ? '' : hash('sha256', texts.sort().join('\n'), 'base64url').slice(0, 16);
}

/** JSON with sorted fields, so that equal values give equal text. `JSON.stringify` with a replacer that sorts takes twice as long. */
function canonical(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  let text = '';
  for (const name of Object.keys(value).sort()) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field !== undefined) text += `${text === '' ? '' : ','}${quoted(name)}:${canonical(field)}`;
  }
  return `{${text}}`;
}

/** Most names and values need no escapes, and finding that out is faster than `JSON.stringify`. */
const quoted = (text: string): string => (/^[\w.:/-]*$/.test(text) ? `"${text}"` : JSON.stringify(text));
