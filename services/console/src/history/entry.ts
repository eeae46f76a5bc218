import type { Controller } from '@sluice/controllers';
import type { Causes, OutcomeStatus, PlanId } from '@sluice/messages';

/** One line of a Service's history. `at` is in milliseconds since the Unix epoch. */
export type Entry = SeenEntry | DecidedEntry | DoneEntry;

interface Common {
  readonly at: number;
  /** W3C trace context of the record; absent if it had none. */
  readonly traceparent?: string;
}

/** A watcher published something new. */
export interface SeenEntry extends Common {
  readonly kind: 'seen';
  readonly news: readonly News[];
  readonly causes: Causes;
}

/** A reconciler decided what to write. */
export interface DecidedEntry extends Common {
  readonly kind: 'decided';
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly mutations: readonly MutationSummary[];
  /** Why the plan is not complete (E15). */
  readonly incomplete: readonly string[];
  /** Kubernetes Events of the plan, such as why topology hints are off. */
  readonly events: readonly { readonly reason: string; readonly message: string }[];
  readonly causes: Causes;
}

/** A writer reported the Outcome of a plan. */
export interface DoneEntry extends Common {
  readonly kind: 'done';
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly status: OutcomeStatus;
  /** The API server's message, if status is not `applied`. */
  readonly message: string;
  readonly retries: number;
  /** From the first observed cause to the API server's last answer; null if the plan had no cause. */
  readonly latencyMs: number | null;
  /** From the decision to the API server's last answer. */
  readonly applyMs: number;
  readonly writes: readonly {
    readonly verb: string;
    readonly resource: string;
    readonly name: string;
    readonly ok: boolean;
  }[];
  /** How it changed traffic. Empty for the Endpoints controller, whose object repeats the slices. */
  readonly endpoints: readonly EndpointChange[];
  readonly causes: Causes;
}

export interface News {
  readonly of: 'service' | 'pod' | 'endpoints' | 'slice' | 'topology';
  readonly name: string;
  /** Text in the past tense: `became ready`. */
  readonly what: string;
}

export interface MutationSummary {
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: 'endpoints' | 'endpointslices';
  readonly name: string;
  readonly endpoints: readonly EndpointChange[];
}

/** One endpoint that was added, removed or changed. */
export interface EndpointChange {
  readonly what: 'added' | 'removed' | 'changed';
  /** Name of the Pod; empty for a custom endpoint. */
  readonly pod: string;
  readonly addresses: readonly string[];
  readonly slice: string;
  readonly before: EndpointFace | null;
  readonly after: EndpointFace | null;
}

/** The fields of an endpoint, besides its address, that affect a proxy. */
export interface EndpointFace {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zone: string;
  /** Names of zones, then of nodes (`node:NAME`). */
  readonly hints: readonly string[];
}
