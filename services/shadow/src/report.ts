import type { Controller } from '@sluice/controllers';
import type { Percentiles } from './samples.ts';

/** A lasting disagreement on one Service. */
export interface ReportedDifference {
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  readonly controller: Controller;
  /** As in `Difference`. */
  readonly kind: string;
  readonly resource: string;
  /** `where: what is there ≠ what Sluice would write`. */
  readonly lines: readonly string[];
  /** What led to it, as the watcher put it. */
  readonly causes: readonly string[];
  /** When Sluice came to it, as ISO 8601. */
  readonly since: string;
  readonly explanation: { readonly rules: string; readonly why: string } | null;
}

export interface ShadowReport {
  readonly ranMs: number;
  readonly clusters: readonly {
    readonly name: string;
    readonly identity: string;
    readonly server: string;
    readonly version: string;
  }[];
  /** Services by where they stand now; `waiting`: not long enough to count as a difference. */
  readonly services: {
    readonly total: number;
    readonly agree: number;
    readonly waiting: number;
    readonly explained: number;
    readonly unexplained: number;
  };
  readonly decisions: number;
  /** Writes of the upstream controllers and of other clients to these objects. */
  readonly writes: number;
  /** From Sluice's decision to the watch event of the upstream controller's write, in milliseconds; null if there was none. */
  readonly sooner: Percentiles | null;
  /** From the watch event of the upstream controller's write to Sluice's decision that no write is needed. */
  readonly later: Percentiles | null;
  /** Decisions that were undone by another change before anybody wrote. */
  readonly withdrawn: number;
  /** Differences that lasted, by what has become of them. */
  readonly lasting: {
    readonly explained: number;
    readonly unexplained: number;
    /** Of both, those that the upstream controllers corrected later. */
    readonly resolved: number;
  };
  readonly malformed: number;
  /** Those of now. */
  readonly differences: readonly ReportedDifference[];
}

/** One for people, without what changes from run to run in order. */
export function describeReported({
  namespace,
  service,
  resource,
  kind,
  lines,
  causes,
  explanation,
}: ReportedDifference) {
  const what = resource === 'endpoints' ? 'Endpoints' : 'EndpointSlices of';
  return [
    `${what} ${namespace}/${service} (${kind})`,
    ...lines.map((line) => `  ${line}`),
    `  causes: ${causes.join('; ') || 'unknown'}`,
    `  ${explanation === null ? 'unexplained' : `explained by ${explanation.rules}: ${explanation.why}`}`,
  ];
}
