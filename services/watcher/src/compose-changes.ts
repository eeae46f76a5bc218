import { hintsEnabled } from '@sluice/controllers';
import {
  type Digest,
  digestFacts,
  type Fact,
  type PublishedResourceVersions,
  type SnapshotPart,
} from '@sluice/messages';
import type { Node, NodePlacement, Pod, Service } from '@sluice/model';
import type { DirtyEntry } from './dirty-set.ts';
import type { Indexer } from './indexer.ts';
import { objectName, type WatchedPod } from './watched-objects.ts';

/** Facts per Change at most. A Change that exceeds the record size of the bus nevertheless is split further. */
export const factsPerChange = 200;

export interface ComposedChange {
  readonly facts: readonly Fact[];
  readonly snapshot?: SnapshotPart;
}

/** Digest of the Service's current state, or undefined if the cluster has no object of it. */
export function digestService(indexer: Indexer, namespace: string, name: string): Digest | undefined {
  const facts = allFacts(indexer, namespace, name);
  return facts.length === 0 ? undefined : digestFacts(facts);
}

/** The Changes that publish a dirty Service, with its current state. At least one. */
export function composeChanges(
  indexer: Indexer,
  dirty: DirtyEntry,
  resourceVersions: PublishedResourceVersions,
): readonly ComposedChange[] {
  const { namespace, service } = dirty.key;
  if (!dirty.snapshot) return chunks(changedFacts(indexer, dirty)).map((facts) => ({ facts }));
  const parts = chunks(allFacts(indexer, namespace, service));
  const { unwatched } = indexer;
  return parts.map((facts, i) => ({
    facts,
    snapshot: {
      first: i === 0,
      last: i === parts.length - 1,
      initial: dirty.initial,
      resourceVersions,
      ...(unwatched.length > 0 && { unwatched }),
    },
  }));
}

/** The same facts in two Changes. A snapshot begins with the first and ends with the second. */
export function halves({ facts, snapshot }: ComposedChange): readonly ComposedChange[] {
  const middle = Math.ceil(facts.length / 2);
  return [
    { facts: facts.slice(0, middle), ...(snapshot && { snapshot: { ...snapshot, last: false } }) },
    { facts: facts.slice(middle), ...(snapshot && { snapshot: { ...snapshot, first: false } }) },
  ];
}

function allFacts(indexer: Indexer, namespace: string, name: string): Fact[] {
  const key = objectName(namespace, name);
  const facts: Fact[] = [];
  const service = indexer.services.get(key);
  if (service !== undefined) facts.push(...serviceFacts(indexer, service));
  for (const watched of indexer.podsOfService(key).values()) facts.push(podFact(indexer, watched));
  const endpoints = indexer.endpoints.get(key);
  if (endpoints !== undefined) facts.push({ kind: 'endpoints', endpoints, uid: endpoints.metadata.uid ?? '' });
  for (const [sliceName, slice] of indexer.slicesOfService(key)) {
    facts.push({ kind: 'slice', name: sliceName, slice, uid: slice.metadata.uid ?? '' });
  }
  return facts;
}

function changedFacts(indexer: Indexer, dirty: DirtyEntry): Fact[] {
  const key = objectName(dirty.key.namespace, dirty.key.service);
  const service = indexer.services.get(key);
  const facts: Fact[] = [];
  if (dirty.service) {
    if (service === undefined) facts.push({ kind: 'service', service: null });
    else facts.push(...serviceFacts(indexer, service));
  } else if (dirty.topology && service !== undefined) {
    facts.push(topologyFact(indexer, service));
  }
  const pods = indexer.podsOfService(key);
  for (const name of dirty.pods) {
    const watched = pods.get(name);
    facts.push(watched ? podFact(indexer, watched) : { kind: 'pod', name, pod: null, node: null });
  }
  if (dirty.endpoints !== undefined) {
    const { uid, manager } = dirty.endpoints;
    const endpoints = indexer.endpoints.get(key) ?? null;
    facts.push({
      kind: 'endpoints',
      endpoints,
      uid: endpoints?.metadata.uid ?? uid,
      ...(endpoints !== null && manager !== undefined && { manager }),
    });
  }
  const slices = indexer.slicesOfService(key);
  for (const [name, { uid, relabelled, labelledFor, manager }] of dirty.slices) {
    const slice = slices.get(name);
    if (slice !== undefined)
      facts.push({
        kind: 'slice',
        name,
        slice,
        uid: slice.metadata.uid ?? '',
        ...(manager !== undefined && { manager }),
      });
    else if (!relabelled) facts.push({ kind: 'slice', name, slice: null, uid });
    else
      facts.push({
        kind: 'slice',
        name,
        slice: null,
        uid,
        relabelled,
        ...(labelledFor !== undefined && { labelledFor }),
        ...(manager !== undefined && { manager }),
      });
  }
  return facts;
}

function serviceFacts(indexer: Indexer, service: Service): Fact[] {
  const similarPods = indexer.similarPods(service);
  return [{ kind: 'service', service, ...(similarPods && { similarPods }) }, topologyFact(indexer, service)];
}

function topologyFact(indexer: Indexer, service: Service): Fact {
  if (!hintsEnabled(service.annotations)) return { kind: 'topology', topology: null };
  return { kind: 'topology', topology: indexer.topology, hintedServices: indexer.hintedServices.size };
}

function podFact(indexer: Indexer, { pod }: WatchedPod): Fact {
  return { kind: 'pod', name: pod.name, pod, node: placement(indexer, pod) };
}

/** The Pods of a Node share the object, which the reconciler keeps for each of them. */
const placements = new WeakMap<Node, NodePlacement>();

/**
 * Of a Node that cannot be decoded or is not watched, but exists: without a Node, its Pods would be no endpoints.
 */
const unknownPlacement: NodePlacement = { zone: '' };

const placementOn = ({ zone, condition }: Node): NodePlacement => ({ zone, ...(condition && { condition }) });

function placement(indexer: Indexer, pod: Pod): NodePlacement | null {
  const node = indexer.nodes.get(pod.nodeName);
  if (node === undefined) return isUnknownNode(indexer, pod.nodeName) ? unknownPlacement : null;
  const known = placements.get(node) ?? placementOn(node);
  placements.set(node, known);
  return known;
}

function isUnknownNode(indexer: Indexer, name: string): boolean {
  return name !== '' && (indexer.unwatched.includes('nodes') || indexer.hasUndecodable('nodes', '', name));
}

/** At least one chunk, so that an empty snapshot still has its first and last part. */
function chunks(facts: readonly Fact[]): readonly (readonly Fact[])[] {
  if (facts.length <= factsPerChange) return [facts];
  const parts: Fact[][] = [];
  for (let i = 0; i < facts.length; i += factsPerChange) parts.push(facts.slice(i, i + factsPerChange));
  return parts;
}
