import type { Controller } from '@sluice/model';
import { printableLine } from '@sluice/platform/process';
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
  /** `where: current value ≠ the value that Sluice would write`. */
  readonly lines: readonly string[];
  /** Its causes, as described by the watcher. */
  readonly causes: readonly string[];
  /** Time of Sluice's decision, ISO 8601. */
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
  /** Services by current status; `waiting`: within the time allowed to the upstream controllers. */
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
  /** Decisions that another change undid before any write. */
  readonly withdrawn: number;
  /** Lasting differences by outcome. */
  readonly lasting: {
    readonly explained: number;
    readonly unexplained: number;
    /** Of both, those that the upstream controllers corrected later. */
    readonly resolved: number;
  };
  readonly malformed: number;
  /** The current differences. */
  readonly differences: readonly ReportedDifference[];
}

/** Describes a difference for people, independent of the order of a run. */
export function describeReported({
  cluster,
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
    `${what} ${namespace}/${service} in ${cluster} (${kind})`,
    ...lines.map((line) => `  there ≠ Sluice's: ${line}`),
    `  because: ${causes.join('; ') || 'unknown'}`,
    `  ${explanation === null ? 'unexplained' : `explained by ${explanation.rules}: ${explanation.why}`}`,
  ].map(printableLine);
}
