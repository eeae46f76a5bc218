import { hintsEnabled, type Pod, type Service } from '@sluice/controllers';
import { type Digest, digestFacts, type Fact, type SnapshotPart } from '@sluice/messages';
import { type Inventory, type ObjectName, objectName, type WatchedPod } from './inventory.ts';
import type { Marks } from './marks.ts';

/** Facts of one message at most, so that a Service with thousands of Pods stays below every bus's message limit. */
export const factsPerChange = 200;

export interface ComposedPart {
  readonly facts: readonly Fact[];
  readonly snapshot?: SnapshotPart;
}

/** What all that concerns a Service comes down to, as the inventory has it now; undefined if there is nothing. */
export function digest(inventory: Inventory, namespace: string, name: string): Digest | undefined {
  const service = inventory.services.get(objectName(namespace, name)) ?? null;
  const facts = allFacts(inventory, namespace, name, service);
  return facts.length === 0 ? undefined : digestFacts(facts);
}

/** Turns marks into facts, as the inventory has them now. */
export function compose(
  inventory: Inventory,
  namespace: string,
  name: string,
  marks: Marks,
  versions: SnapshotPart['resourceVersions'],
): readonly ComposedPart[] {
  const service = inventory.services.get(objectName(namespace, name)) ?? null;
  if (!marks.snapshot)
    return chunks(changedFacts(inventory, namespace, name, service, marks)).map((facts) => ({ facts }));
  const parts = chunks(allFacts(inventory, namespace, name, service));
  return parts.map((facts, i) => ({
    facts,
    snapshot: { first: i === 0, last: i === parts.length - 1, initial: marks.start, resourceVersions: versions },
  }));
}

function allFacts(inventory: Inventory, namespace: string, name: string, service: Service | null): Fact[] {
  const key = objectName(namespace, name);
  const facts: Fact[] = [];
  if (service !== null) facts.push(...serviceFacts(inventory, service));
  for (const watched of inventory.membersOf(key).values()) facts.push(podFact(inventory, watched));
  const endpoints = inventory.endpoints.get(key);
  if (endpoints !== undefined) facts.push({ kind: 'endpoints', endpoints, uid: endpoints.metadata.uid ?? '' });
  for (const [sliceName, slice] of inventory.slicesOf(key)) {
    facts.push({ kind: 'slice', name: sliceName, slice, uid: slice.metadata.uid ?? '' });
  }
  return facts;
}

function changedFacts(
  inventory: Inventory,
  namespace: string,
  name: string,
  service: Service | null,
  marks: Marks,
): Fact[] {
  const key: ObjectName = objectName(namespace, name);
  const facts: Fact[] = [];
  if (marks.service) {
    if (service === null) facts.push({ kind: 'service', service: null });
    else facts.push(...serviceFacts(inventory, service));
  } else if (marks.topology && service !== null) {
    facts.push(topologyFact(inventory, service));
  }
  for (const podName of marks.pods) {
    const member = inventory.membersOf(key).get(podName);
    facts.push(member ? podFact(inventory, member) : { kind: 'pod', name: podName, pod: null, node: null });
  }
  if (marks.endpoints !== undefined) {
    const endpoints = inventory.endpoints.get(key) ?? null;
    facts.push({ kind: 'endpoints', endpoints, uid: endpoints?.metadata.uid ?? marks.endpoints });
  }
  for (const [sliceName, { uid, relabelled }] of marks.slices) {
    const slice = inventory.slicesOf(key).get(sliceName);
    if (slice !== undefined) facts.push({ kind: 'slice', name: sliceName, slice, uid: slice.metadata.uid ?? '' });
    else facts.push({ kind: 'slice', name: sliceName, slice: null, uid, ...(relabelled && { relabelled }) });
  }
  return facts;
}

function serviceFacts(inventory: Inventory, service: Service): Fact[] {
  return [{ kind: 'service', service }, topologyFact(inventory, service)];
}

function topologyFact(inventory: Inventory, service: Service): Fact {
  return { kind: 'topology', topology: hintsEnabled(service.annotations) ? inventory.topology : null };
}

function podFact(inventory: Inventory, { pod }: WatchedPod): Fact {
  return { kind: 'pod', name: pod.name, pod, node: placement(inventory, pod) };
}

function placement(inventory: Inventory, pod: Pod): { zone: string } | null {
  const node = inventory.nodes.get(pod.nodeName);
  return node === undefined ? null : { zone: node.zone };
}

/** At least one chunk, so that a snapshot of nothing still has its brackets. */
function chunks(facts: readonly Fact[]): readonly (readonly Fact[])[] {
  if (facts.length <= factsPerChange) return [facts];
  const parts: Fact[][] = [];
  for (let i = 0; i < facts.length; i += factsPerChange) parts.push(facts.slice(i, i + factsPerChange));
  return parts;
}
