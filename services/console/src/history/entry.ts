import type { Controller } from '@sluice/controllers';
import type { Causes, OutcomeStatus, PlanId } from '@sluice/messages';

/** One line of a Service's history. `at` is in milliseconds since the Unix epoch. */
export type Entry = SeenEntry | DecidedEntry | DoneEntry;

interface Common {
  readonly at: number;
  /** W3C trace context of the record that told of it; absent if it carried none. */
  readonly traceparent?: string;
}

/** A watcher told of something that was news. */
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
  /** Kubernetes Events that go with it, such as why topology hints are off. */
  readonly events: readonly { readonly reason: string; readonly message: string }[];
  readonly causes: Causes;
}

/** A writer reported what became of a plan. */
export interface DoneEntry extends Common {
  readonly kind: 'done';
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly status: OutcomeStatus;
  /** The API server's words, where status is not `applied`. */
  readonly message: string;
  readonly retries: number;
  /** From the first thing that was observed to the API server's last answer; null if the plan had no cause. */
  readonly latencyMs: number | null;
  /** From the decision to the API server's last answer. */
  readonly applyMs: number;
  readonly writes: readonly {
    readonly verb: string;
    readonly resource: string;
    readonly name: string;
    readonly ok: boolean;
  }[];
  /** What it changed for traffic. Empty for the Endpoints controller, whose object repeats what the slices say. */
  readonly endpoints: readonly EndpointChange[];
  readonly causes: Causes;
}

export interface News {
  readonly of: 'service' | 'pod' | 'endpoints' | 'slice' | 'topology';
  readonly name: string;
  /** For people, in the past tense: `became ready`. */
  readonly what: string;
}

export interface MutationSummary {
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: 'endpoints' | 'endpointslices';
  readonly name: string;
  readonly endpoints: readonly EndpointChange[];
}

/** One endpoint that came, went or changed. */
export interface EndpointChange {
  readonly what: 'added' | 'removed' | 'changed';
  /** Name of the Pod; empty for a custom endpoint. */
  readonly pod: string;
  readonly addresses: readonly string[];
  readonly slice: string;
  readonly before: EndpointFace | null;
  readonly after: EndpointFace | null;
}

/** What a proxy sees of an endpoint besides its address. */
export interface EndpointFace {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zone: string;
  /** Names of zones, then of nodes (`node:NAME`). */
  readonly hints: readonly string[];
}
