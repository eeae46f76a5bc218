import { compareResourceVersions, type EndpointSlice } from '@sluice/controllers';
import { type Change, compareStamps, type Fact, noCauses } from '@sluice/messages';
import type { News, SeenEntry } from './entry.ts';
import { podNews } from './pod-news.ts';
import { serviceNews } from './service-news.ts';
import type { EndpointsFact, ServiceState, SliceFact } from './service-state.ts';

/** Folds what a watcher told; undefined if it was no news, as the echo of a write is none. */
export function foldChange(state: ServiceState, change: Change): SeenEntry | undefined {
  if (compareStamps(change.stamp, state.stamp) <= 0) return undefined;
  state.stamp = change.stamp;
  if (change.snapshot?.first)
    state.snapshot = { since: change.snapshot.resourceVersions, pods: new Set(), slices: new Set() };
  const news = change.facts.flatMap((fact) => foldFact(state, fact));
  if (change.snapshot?.last) news.push(...endSnapshot(state));
  const at = change.causes.first[0]?.observedAt ?? state.seenAt;
  state.seenAt = Math.max(state.seenAt, at);
  return news.length > 0 ? { kind: 'seen', at, news, causes: change.causes } : undefined;
}

function foldFact(state: ServiceState, fact: Fact): News[] {
  switch (fact.kind) {
    case 'service': {
      const news = serviceNews(state.service, fact.service);
      state.service = fact.service;
      return news.map((what) => ({ of: 'service', name: state.key.service, what }));
    }
    case 'pod': {
      state.snapshot?.pods.add(fact.name);
      const known = fact.pod === null ? null : { pod: fact.pod, node: fact.node };
      const news = podNews(state.pods.get(fact.name) ?? null, known);
      if (known === null) state.pods.delete(fact.name);
      else state.pods.set(fact.name, known);
      return news.map((what) => ({ of: 'pod', name: fact.name, what }));
    }
    case 'slice':
      state.snapshot?.slices.add(fact.name);
      if (isWritten(state, fact.name)) {
        state.echoes.set(fact.name, fact);
        return [];
      }
      return foldSlice(state, fact);
    case 'endpoints':
      if (state.inFlight.has('endpoints')) {
        state.endpointsEcho = fact;
        return [];
      }
      return foldEndpoints(state, fact);
    case 'topology': {
      const same = JSON.stringify(state.topology) === JSON.stringify(fact.topology);
      state.topology = fact.topology;
      return same ? [] : [{ of: 'topology', name: '', what: 'the Nodes give the zones other shares of CPU' }];
    }
  }
}

/** Whether a plan in flight writes the slice, so that what a watcher tells of it may be no more than an echo. */
function isWritten(state: ServiceState, slice: string): boolean {
  for (const plan of state.inFlight.values()) {
    for (const { mutations } of plan.groups) {
      if (mutations.some((m) => (m.verb === 'delete' ? m.name : m.object.metadata.name) === slice)) return true;
    }
  }
  return false;
}

/** Folds what was told of slices and Endpoints while their plan was in flight, once its Outcome is in: an echo is no news then. */
export function foldEchoes(state: ServiceState, at: number): SeenEntry | undefined {
  const news: News[] = [];
  for (const [name, fact] of state.echoes) {
    if (isWritten(state, name)) continue;
    state.echoes.delete(name);
    news.push(...foldSlice(state, fact));
  }
  const { endpointsEcho } = state;
  if (endpointsEcho !== null && !state.inFlight.has('endpoints')) {
    state.endpointsEcho = null;
    news.push(...foldEndpoints(state, endpointsEcho));
  }
  return news.length > 0 ? { kind: 'seen', at, news, causes: noCauses } : undefined;
}

function foldSlice(state: ServiceState, fact: SliceFact): News[] {
  const known = state.slices.get(fact.name);
  const told = (what: string): News[] => [{ of: 'slice', name: fact.name, what }];
  if (fact.slice === null) {
    if (known === undefined || (known.metadata.uid ?? fact.uid) !== fact.uid) return [];
    state.slices.delete(fact.name);
    return told(fact.relabelled ? 'was given to another Service by its labels' : 'was deleted by somebody else');
  }
  const order = compareResourceVersions(
    fact.slice.metadata.resourceVersion ?? '',
    known?.metadata.resourceVersion ?? '',
  );
  if (known !== undefined && order <= 0) return [];
  state.slices.set(fact.name, fact.slice);
  if (known === undefined) return told(`exists with ${count(fact.slice)} endpoints`);
  return told('was changed by somebody else');
}

function foldEndpoints(state: ServiceState, fact: EndpointsFact): News[] {
  const known = state.endpoints;
  const told = (what: string): News[] => [{ of: 'endpoints', name: state.key.service, what }];
  if (fact.endpoints === null) {
    if (known === null || (known.metadata.uid ?? fact.uid) !== fact.uid) return [];
    state.endpoints = null;
    return told('were deleted by somebody else');
  }
  const version = fact.endpoints.metadata.resourceVersion ?? '';
  if (known !== null && compareResourceVersions(version, known.metadata.resourceVersion ?? '') <= 0) return [];
  state.endpoints = fact.endpoints;
  return told(known === null ? 'exist' : 'were changed by somebody else');
}

/** What the snapshot did not assert is gone, but for what was written after it was taken. */
function endSnapshot(state: ServiceState): News[] {
  const { snapshot } = state;
  state.whole = true;
  if (snapshot === null) return [];
  const news: News[] = [];
  for (const name of state.pods.keys()) {
    if (snapshot.pods.has(name)) continue;
    state.pods.delete(name);
    news.push({ of: 'pod', name, what: 'was gone when everything was told again' });
  }
  for (const [name, slice] of state.slices) {
    if (snapshot.slices.has(name) || !state.isCovered(slice)) continue;
    state.slices.delete(name);
    news.push({ of: 'slice', name, what: 'was gone when everything was told again' });
  }
  state.snapshot = null;
  return news;
}

const count = (slice: EndpointSlice): number => slice.endpoints?.length ?? 0;
