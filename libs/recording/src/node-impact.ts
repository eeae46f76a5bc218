import { podOf } from '@sluice/controllers';
import type { Message } from '@sluice/messages';
import { type PodEntry, type ServiceState, ServiceStates } from '@sluice/service-state';
import { messageOf, type StoredRecord } from './records.ts';

/** What the disruption of a Node did to a Service. Times in milliseconds since the Unix epoch. */
export interface NodeImpact {
  /** False: how the Service was at the start is not recorded, or before too many records. Nothing is known then. */
  readonly isStartKnown: boolean;
  /** Pods of the Service at the start. */
  readonly pods: number;
  /** Those on the Node. */
  readonly onNode: number;
  /** Of these, those that slices showed as ready. */
  readonly shown: number;
  /**
   * Of those that slices stopped to show as ready: how long it took since the Node or the Pod was not ready or was deleted, in
   * milliseconds.
   */
  readonly leftAfterMs: readonly number[];
  /** Those that were deleted, in the order of time. */
  readonly deleted: readonly DeletedPod[];
  /** New Pods of the same controllers that became ready on other Nodes: at most as many as were deleted. */
  readonly replaced: number;
}

export interface DeletedPod {
  readonly pod: string;
  readonly at: number;
  /** Such as `DeletionByTaintManager`; empty: unknown. */
  readonly reason: string;
}

interface Disruption {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly node: string;
  /** When the first event of the Node affected the Service. */
  readonly at: number;
  readonly until: number;
}

/** How far the watches of slices and Pods may be ahead of that of the Nodes, in milliseconds. */
export const earlyMs = 1_000;

/** Replays the records of a Service from before the disruption. */
export function nodeImpact({ key, node, at, until }: Disruption, records: readonly StoredRecord[]): NodeImpact {
  const from = at - earlyMs;
  const states = new ServiceStates();
  let observer: ImpactObserver | undefined;
  for (const { receivedAt, payload } of records) {
    const message = messageOf({ payload });
    if (message === undefined) continue;
    const { first, last } = timesOf(message, receivedAt);
    if (first > until) break;
    if (last >= from && observer === undefined) observer = new ImpactObserver(node, states.get(key));
    try {
      const applied = states.apply(key, message, receivedAt);
      if (applied === undefined || observer === undefined) continue;
      if (last < at) observer.begin(applied.state);
      observer.observe(applied.state, Math.max(first, from), last);
    } catch {
      // The recorder has logged it.
    }
  }
  return observer?.impact ?? unknown;
}

const unknown: NodeImpact = {
  isStartKnown: false,
  pods: 0,
  onNode: 0,
  shown: 0,
  leftAfterMs: [],
  deleted: [],
  replaced: 0,
};

/** Of the first and the last event that a message combines. */
function timesOf(message: Message, receivedAt: number): { readonly first: number; readonly last: number } {
  if (message.kind === 'outcome') return { first: message.completedAt, last: message.completedAt };
  const causes = message.kind === 'change' ? message.causes.first : [];
  return { first: causes[0]?.observedAt ?? receivedAt, last: causes.at(-1)?.observedAt ?? receivedAt };
}

/** A Pod that was on the Node at the start. */
interface AffectedPod {
  readonly entry: PodEntry;
  /** Slices showed it as ready at the start. */
  wasShown: boolean;
  leftAfterMs: number | undefined;
  /** Since when slices should not show it as ready. */
  unreadySince: number | undefined;
  deletion: DeletedPod | undefined;
}

/** Compares how a Service is with how it was at the start. */
class ImpactObserver {
  readonly #node: string;
  /** At the start; undefined: unknown. */
  #pods: number | undefined;
  readonly #affected = new Map<string, AffectedPod>();
  /** UIDs of the Pods at the start. */
  readonly #existing = new Set<string>();
  readonly #replacements = new Set<string>();

  /** `state`: at the start, if it is known. */
  constructor(node: string, state: ServiceState | undefined) {
    this.#node = node;
    if (state !== undefined) this.begin(state);
  }

  /** The start is not earlier than this state. */
  begin(state: ServiceState): void {
    const shown = podsShownReady(state);
    this.#pods = state.pods.size;
    for (const [name, entry] of state.pods) {
      this.#existing.add(entry.pod.uid);
      if (entry.pod.nodeName !== this.#node) continue;
      const known = this.#affected.get(name);
      const isShown = shown.has(name);
      if (known?.entry.pod.uid !== entry.pod.uid) {
        const nothing = { leftAfterMs: undefined, unreadySince: undefined, deletion: undefined };
        this.#affected.set(name, { entry, wasShown: isShown, ...nothing });
      } else if (isShown) {
        known.wasShown = true;
        known.leftAfterMs = undefined;
      }
    }
  }

  /** `first`, `last`: times of the first and the last event that led to this state. */
  observe(state: ServiceState, first: number, last: number): void {
    const shown = podsShownReady(state);
    for (const [name, affected] of this.#affected) {
      const { uid, terminating: wasTerminating } = affected.entry.pod;
      const known = state.pods.get(name);
      const now = known?.pod.uid === uid ? known : undefined;
      if (now !== undefined && isReady(now)) affected.unreadySince = undefined;
      else affected.unreadySince ??= first;
      if (!shown.has(name)) affected.leftAfterMs ??= last - (affected.unreadySince ?? last);
      if (now === undefined || (now.pod.terminating && !wasTerminating)) {
        const reason = now?.pod.details?.disruption ?? affected.entry.pod.details?.disruption ?? '';
        affected.deletion ??= { pod: name, at: first, reason };
      }
    }
    const owners = new Set(this.#affected.values().map(({ entry }) => ownerOf(entry)));
    for (const entry of state.pods.values()) {
      const { pod } = entry;
      const isNew = !this.#existing.has(pod.uid) && owners.has(ownerOf(entry));
      if (isNew && pod.nodeName !== this.#node && pod.ready) this.#replacements.add(pod.uid);
    }
  }

  get impact(): NodeImpact {
    if (this.#pods === undefined) return unknown;
    const affected = [...this.#affected.values()];
    const shown = affected.filter(({ wasShown }) => wasShown);
    const deleted = affected.flatMap(({ deletion }) => deletion ?? []);
    return {
      ...{ isStartKnown: true, pods: this.#pods, onNode: affected.length, shown: shown.length },
      leftAfterMs: shown.flatMap(({ leftAfterMs }) => leftAfterMs ?? []).sort((a, b) => a - b),
      deleted: deleted.sort((a, b) => a.at - b.at),
      replaced: Math.min(this.#replacements.size, deleted.length),
    };
  }
}

const ownerOf = ({ pod }: PodEntry): string => pod.details?.owner ?? '';

const isReady = ({ pod, node }: PodEntry): boolean =>
  pod.ready && !pod.terminating && node !== null && !node.condition?.startsWith('not ready');

function podsShownReady({ slices }: ServiceState): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const { slice } of slices.values())
    for (const endpoint of slice.endpoints ?? []) if (endpoint.conditions?.ready !== false) shown.add(podOf(endpoint));
  return shown;
}
