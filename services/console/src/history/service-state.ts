import {
  type Controller,
  compareResourceVersions,
  type EndpointSlice,
  type Endpoints,
  type NodeTopology,
  type Service,
} from '@sluice/controllers';
import type { Fact, PlannedMutations, PublishedResourceVersions, ServiceKey, Stamp } from '@sluice/messages';
import type { KnownPod } from './pod-news.ts';

export type SliceFact = Extract<Fact, { kind: 'slice' }>;
export type EndpointsFact = Extract<Fact, { kind: 'endpoints' }>;

/** What is known of a Service after some message of its history. Changed only by the fold. */
export class ServiceState {
  readonly key: ServiceKey;
  /** False: its history was cut, and no snapshot has come since, so what is missing here may well exist. */
  whole = false;
  service: Service | null = null;
  readonly pods = new Map<string, KnownPod>();
  readonly slices = new Map<string, EndpointSlice>();
  endpoints: Endpoints | null = null;
  topology: NodeTopology | null = null;
  /** Of the last Change that was folded. */
  stamp: Stamp = { epoch: 0, sequence: 0 };
  /** What an open snapshot has asserted so far; null: none is open. */
  snapshot: {
    readonly since: PublishedResourceVersions;
    readonly pods: Set<string>;
    readonly slices: Set<string>;
  } | null = null;
  /** Plans without an Outcome yet. */
  readonly inFlight = new Map<Controller, PlannedMutations>();
  /** What was told of slices that a plan in flight writes: perhaps only the echo of its writes. */
  readonly echoes = new Map<string, SliceFact>();
  /** The same of the Endpoints object. */
  endpointsEcho: EndpointsFact | null = null;
  /** Why the API server refused the last plan of a controller; removed when one is applied. */
  readonly refused = new Map<Controller, { readonly message: string; readonly since: number }>();
  /** The last word of the Events TopologyAwareHints…, by reason. */
  hints: { readonly reason: string; readonly message: string; readonly at: number } | null = null;
  /** When anything last happened, and when something was last written, in milliseconds since the Unix epoch; 0: never. */
  seenAt = 0;
  appliedAt = 0;

  constructor(key: ServiceKey) {
    this.key = key;
  }

  /** A copy that may be folded further without changing this one. */
  copy(): ServiceState {
    const copy = Object.assign(new ServiceState(this.key), this, {
      pods: new Map(this.pods),
      slices: new Map(this.slices),
      inFlight: new Map(this.inFlight),
      echoes: new Map(this.echoes),
      refused: new Map(this.refused),
    });
    const open = this.snapshot;
    copy.snapshot = open && { since: open.since, pods: new Set(open.pods), slices: new Set(open.slices) };
    return copy;
  }

  /** True if nothing is left of the Service. */
  get isEmpty(): boolean {
    return this.service === null && this.pods.size === 0 && this.slices.size === 0 && this.endpoints === null;
  }

  /** Whether a slice stored in this version was there when the snapshot was taken. */
  isCovered(slice: EndpointSlice): boolean {
    const since = this.snapshot?.since.endpointslices ?? '';
    return compareResourceVersions(slice.metadata.resourceVersion ?? '', since) <= 0;
  }
}
