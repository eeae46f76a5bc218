import {
  type Controller,
  type EndpointSlice,
  type Endpoints,
  type EventToRecord,
  isNoOpUpdate,
  type MutationGroup,
  type NodeTopology,
  type Plan,
  type PodOnNode,
  type Service,
  type WrittenResource,
} from '@sluice/model';
import type { ControllerMetricRow, ControllerMetrics, RecordMetric, SyncCounts } from './controller-metrics.ts';
import type { MirroredGroup } from './endpointslicemirroring/mirrored-addresses.ts';
import { hasExactContent, type Recycled, recycleSlices } from './endpointslicemirroring/mirrored-slice.ts';
import type { FailedMutation, Named } from './failure-events.ts';
import type { ServiceHints } from './trackers/topology-cache.ts';
import type { TriggerTimes } from './trackers/trigger-time-tracker.ts';

/** A resource that a controller decides from. `endpoints`: those that users write, for Services without a selector. */
export type ReadResource = 'services' | 'pods' | 'nodes' | 'endpoints';

/** What is known about one Service. Resources that the controller does not read are empty. */
export interface ControllerInputs {
  /** Null if the Service does not exist. */
  readonly service: Service | null;
  /** All Pods that the selector matches, eligible or not. */
  readonly pods: readonly PodOnNode[];
  /** The Endpoints with the Service's name, or null. */
  readonly endpoints: Endpoints | null;
  /** The Service was deleted, or the sweep at watcher start found the Endpoints without a Service (D4, D5). */
  readonly orphaned: boolean;
  /** Slices with the Service's name and the controller's `managed-by`, the oldest first, also those being deleted. */
  readonly slices: readonly EndpointSlice[];
  /** Null if the Nodes are unknown. */
  readonly topology: NodeTopology | null;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
  /** 1–1000 (A5). */
  readonly maxEndpointsPerSlice: number;
  /** 1–1000 (A5). */
  readonly maxEndpointsPerSubset: number;
  readonly policy: DecisionPolicy;
}

/** A plan, and what to store if it succeeds. */
export interface Reconciled {
  readonly plan: Plan;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
  /** Null if the controller does not handle the Service. */
  readonly counts: SyncCounts | null;
}

/** A plan that failed or is incomplete. */
export interface FailedPlan {
  readonly service: Named;
  readonly failures: readonly FailedMutation[];
  readonly incomplete: readonly string[];
  readonly groups: readonly MutationGroup[];
}

/**
 * Everything that Sluice knows about a controller. It is registered once; code outside its folder reads this and never
 * compares names.
 */
export interface ControllerDescriptor {
  /** In messages, stored state, metrics and logs. */
  readonly name: Controller;
  /** Its names in `--controllers`; the first one is current, the others are aliases (A2). */
  readonly flags: readonly [string, ...string[]];
  /** Its own settings, with the names and texts of their flags (A5); the settings in the file are named after them. */
  readonly settings: {
    readonly batchPeriod: { readonly flag: `${string}-updates-batch-period`; readonly about: string };
    readonly concurrentSyncs: {
      readonly flag: `${string}concurrent-${string}-syncs`;
      readonly about: string;
      readonly max: number;
    };
  };
  /** Name of its client and of its ServiceAccount, as in kube-controller-manager (A1). */
  readonly client: string;
  /** Value of the label `managed-by` of the objects it writes. */
  readonly managedBy: string;
  /** A change of one of these leads to a decision; a change of Nodes waits for its turn among all Services. */
  readonly reads: readonly ReadResource[];
  readonly writes: WrittenResource;
  /** What the owner references of its slices name. Default: they have none. */
  readonly owner?: 'services' | 'endpoints';
  /** Pure. May cache by object identity (ADR 0044). */
  readonly reconcile: (inputs: ControllerInputs) => Reconciled;
  readonly trackers: {
    /** Upstream tracks slices that need no write, too (H15). */
    readonly unchanged?: true;
    /** Whether the Service needs no slice, so that a clean-up ends all tracking (H6). Default: never. */
    readonly needsNone?: (service: Service | null, endpoints: Endpoints | null) => boolean;
  };
  /** Its slices can be compacted. */
  readonly compacts?: true;
  readonly events: {
    /** The source of its Events (section J). */
    readonly component: string;
    readonly reasons: readonly string[];
    /** The Events for a plan that failed or is incomplete. Default: none. */
    readonly failed?: (plan: FailedPlan) => readonly EventToRecord[];
    /** The log text for a failed plan. Default: the messages of `failed`. */
    readonly failureText?: (plan: FailedPlan) => string;
  };
  readonly metrics: {
    /** Name of its work queue. */
    readonly queue: string;
    /** Default: it has none of its own. */
    readonly own?: {
      /** Prefix of their names. */
      readonly subsystem: string;
      /** By name. `sliceGauges` are filled from `counts`. */
      readonly rows: Readonly<Record<string, ControllerMetricRow>>;
      readonly open: (record: RecordMetric) => ControllerMetrics;
    };
  };
}

/**
 * Decisions in which Sluice deviates from upstream (docs/reference/parity.md), as a port: replays of upstream recordings
 * inject upstream's behaviour.
 */
export interface DecisionPolicy {
  /** Whether an update can be skipped (K5). */
  readonly isNoOp: <T extends Endpoints | EndpointSlice>(existing: T, updated: T) => boolean;
  /** Whether a mirrored slice has the desired content, up to `max` endpoints (H15). */
  readonly hasContent: (slice: EndpointSlice, group: MirroredGroup, max: number) => boolean;
  /** Turns creates into replacements of mirrored slices that would be deleted (H19). */
  readonly recycle: (toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]) => Recycled;
}

/** Sluice's behaviour: writes what full convergence needs, and nothing else. */
export const defaultPolicy: DecisionPolicy = {
  isNoOp: isNoOpUpdate,
  hasContent: hasExactContent,
  recycle: recycleSlices,
};
