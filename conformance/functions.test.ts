import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import {
  addHints,
  dumpEndpointPort,
  dumpEndpointPorts,
  dumpEndpointSubset,
  dumpEndpointsPort,
  endpointPorts,
  endpointSlicePrefix,
  hintsEnabled,
  isOverloaded,
  nodeTopology,
  podToEndpoint,
  podToEndpointAddress,
  portMapKey,
  repackSubsets,
  type SliceInfo,
  trafficDistributionHints,
  truncateSubsets,
} from '@sluice/controllers';
import {
  type AddressType,
  type EndpointPort,
  type EndpointSlice,
  type EndpointSubset,
  type Endpoints,
  fnv1a128,
  projectNode,
  projectPod,
  projectService,
  type StringMap,
} from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { type LabelledPod, podChange, podProjectionKey } from './replay/upstream/pod-change.ts';

/**
 * Replays recorded calls of upstream's pure functions: for the recorded input, Sluice's functions must return the
 * recorded output. Null equals absent, and an empty list equals null.
 */

interface Vector {
  readonly fn: string;
  readonly name: string;
  readonly input: Input;
  readonly output: unknown;
}

interface Input extends SliceInfo {
  readonly ports: readonly EndpointPort[] | null;
  readonly subsets: readonly EndpointSubset[] | null;
  readonly endpoints: Endpoints;
  readonly pod: RawPod;
  readonly oldPod: RawPod;
  readonly node?: unknown;
  readonly nodes: readonly unknown[];
  readonly service: unknown;
  readonly addressType: AddressType;
  readonly annotations: StringMap | null;
  readonly trafficDistribution?: string | null;
  readonly text: string;
}

interface RawPod {
  readonly metadata: { readonly labels?: StringMap | null; readonly resourceVersion: string };
}

function labelled(raw: RawPod): LabelledPod {
  const { labels, resourceVersion } = raw.metadata;
  return { pod: projectPod(raw).pod, labels: labels ?? null, resourceVersion };
}

const replay: Readonly<Record<string, (input: Input) => unknown>> = {
  fnv128a: ({ text }) => ({ hash: fnv1a128(text) }),
  hintsEnabled: ({ annotations }) => ({ enabled: hintsEnabled(annotations ?? {}) }),
  slicePrefix: ({ text }) => ({ prefix: endpointSlicePrefix(text) }),
  portMapKey: ({ ports }) => {
    const keyed = portMapKey(ports);
    const hashed = (ports ?? []).map(dumpEndpointPort).map((dump) => ({ dump, hash: fnv1a128(dump) }));
    return { key: keyed.key, sorted: keyed.ports, dump: dumpEndpointPorts(keyed.ports), each: hashed };
  },
  repackSubsets: (input) => {
    const subsets = repackSubsets(input.subsets);
    const dumps = subsets.map((subset) => {
      const dump = dumpEndpointSubset(subset);
      const ports = (subset.ports ?? []).map(dumpEndpointsPort).map((text) => ({ dump: text, hash: fnv1a128(text) }));
      return { dump, hash: fnv1a128(dump), ports };
    });
    return { subsets, dumps };
  },
  truncateEndpoints: ({ endpoints }) => {
    const { truncated, subsets } = truncateSubsets(endpoints.subsets ?? []);
    return { truncated, endpoints: { ...endpoints, subsets } };
  },
  podToEndpoint: (input) => {
    const { pod } = projectPod(input.pod);
    const service = projectService(input.service);
    const node = input.node === undefined || input.node === null ? null : projectNode(input.node);
    return {
      endpoint: podToEndpoint(pod, node, service, input.addressType),
      ports: endpointPorts(service, pod),
    };
  },
  podToEndpointAddress: (input) => {
    const service = projectService(input.service);
    const address = podToEndpointAddress(projectPod(input.pod).pod, service);
    if (address !== null) return { address };
    return { address, error: `failed to find a matching endpoint for service ${service.name}` };
  },
  podChanged: ({ oldPod, pod }) => {
    const old = labelled(oldPod);
    const now = labelled(pod);
    const key = podProjectionKey(old, now);
    return {
      ...podChange(old, now),
      key: key && {
        Namespace: key.namespace,
        Labels: key.labels,
        OldLabels: key.oldLabels,
        PodChanged: key.podChanged,
      },
    };
  },
  trafficDist: (input) => ordered(trafficDistributionHints(input.trafficDistribution ?? null, listsOf(input))),
  topologyHints: (input) => {
    const topology = nodeTopology(input.nodes.map(projectNode));
    const { lists, hints, events } = addHints(listsOf(input), input.addressType, topology, null);
    return {
      ...ordered(lists),
      events: events.map(({ type, reason, message }) => ({ EventType: type, Reason: reason, Message: message })),
      overloaded: isOverloaded(hints, topology) ? ['ns/svc'] : [],
    };
  },
};

function listsOf({ toCreate, toUpdate, unchanged }: SliceInfo): SliceInfo {
  return { toCreate: toCreate ?? [], toUpdate: toUpdate ?? [], unchanged: unchanged ?? [] };
}

/** Slices and their endpoints in canonical order. */
function ordered(lists: SliceInfo): SliceInfo {
  const sorted = (slices: readonly EndpointSlice[] | null) =>
    [...(slices ?? [])]
      .map((slice) => ({ ...slice, endpoints: [...(slice.endpoints ?? [])].sort(byText) }))
      .sort(byText);
  return { toCreate: sorted(lists.toCreate), toUpdate: sorted(lists.toUpdate), unchanged: sorted(lists.unchanged) };
}

function byText(a: unknown, b: unknown): number {
  const [left, right] = [canonicalText(a), canonicalText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function canonicalText(value: unknown): string {
  return JSON.stringify(canonical(value));
}

/** Sorts fields; drops null fields and empty lists. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== null && field !== undefined && !(Array.isArray(field) && field.length === 0))
    .map(([key, field]) => [key, canonical(field)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields);
}

const path = new URL('./vectors/functions.jsonl.gz', import.meta.url);
const vectors = gunzipSync(readFileSync(path))
  .toString('utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Vector);

function expected({ fn, output }: Vector): unknown {
  const orderFree = fn === 'trafficDist' || fn === 'topologyHints';
  return canonical(orderFree ? { ...(output as SliceInfo), ...ordered(output as SliceInfo) } : output);
}

describe('recorded calls of upstream functions', () => {
  it('are all covered', () => {
    expect(vectors.length).toBe(1669);
    expect([...new Set(vectors.map(({ fn }) => fn))].sort()).toEqual(Object.keys(replay).sort());
  });

  for (const fn of Object.keys(replay)) {
    it(fn, () => {
      for (const vector of vectors) {
        if (vector.fn === fn) expect(canonical(replay[fn]?.(vector.input)), vector.name).toEqual(expected(vector));
      }
    });
  }
});
