import type { Json, JsonObject } from '@sluice/shadow';

/** One line of a vector file: a scenario and upstream's result. conformance/README.md describes the formats. */
export interface Vector {
  readonly name: string;
  readonly class: 'strict' | 'shape';
  readonly loose?: readonly ('names' | 'hints')[];
  /** Rounds before a resync, in which upstream may have missed a change. */
  readonly open?: readonly number[];
  /** False: trigger times are not compared. */
  readonly triggerTime?: boolean;
  readonly scenario: {
    readonly config?: { readonly lag?: boolean } | null;
    readonly objects?: readonly JsonObject[] | null;
    readonly steps?: readonly Step[] | null;
  };
  readonly expect: { readonly rounds: readonly ExpectedRound[] };
}

export interface Step {
  readonly op: string;
  /** False: nothing runs in the round. */
  readonly run?: boolean;
  readonly object?: JsonObject;
}

export interface ExpectedRound {
  readonly after: string;
  /** Normalised; `=`: as in the previous round. */
  readonly objects: JsonObject | '=';
  readonly writes: Writes;
  readonly events: readonly RecordedEvent[] | null;
}

export const verbs = ['create', 'update', 'delete'] as const;
export type Writes = Readonly<Record<(typeof verbs)[number], number>>;

export interface RecordedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly regarding: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** Default 1. */
  readonly count?: number;
}

/** One line of results: raw objects as the API server stores them. */
export interface Result {
  readonly name: string;
  readonly rounds: readonly ActualRound[];
}

export interface ActualRound {
  readonly objects: { readonly endpoints?: readonly Json[]; readonly endpointslices?: readonly Json[] };
  readonly writes?: Partial<Writes>;
  readonly events?: readonly RecordedEvent[];
}
