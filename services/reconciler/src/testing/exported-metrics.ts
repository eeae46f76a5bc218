import type { CountedSlices, SyncCounts } from '@sluice/controllers';
import type { Causes, Outcome, OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { Controller, MutationGroup } from '@sluice/model';
import { VirtualClock } from '@sluice/platform';
import { anOutcome, aSlice, key, keyText } from '@sluice/service-state/testing';
import { Metrics } from '@sluice/telemetry';
import { parseScrape, sampleOf } from '@sluice/telemetry/testing';
import type { CompletedPlan, PartitionMetrics } from '../metrics.ts';
import { reconcilerMetrics } from '../reconciler-metrics.ts';

type Labels = Readonly<Record<string, string>>;

export const hinting = { topology: 'Auto', trafficDistribution: 'PreferClose' } as const;
export const counted: CountedSlices = { endpoints: 30, slices: 3, desiredSlices: 2, hinting };
export const podModified: Causes = { first: [{ description: 'Pod shop/p modified', observedAt: 500 }], more: 0 };

export const create = (name: string) => ({ verb: 'create', resource: 'endpointslices', object: aSlice(name) }) as const;

export function aPlan(
  controller: Controller,
  groups: readonly MutationGroup[] = [],
  causes = podModified,
): PlannedMutations {
  const base = { plan: { epoch: 1, number: 1 }, events: [], incomplete: [], serviceUid: '', decidedAt: 1_000 } as const;
  return { kind: 'mutations', key, controller, ...base, groups, causes };
}

export interface GivenCompletion extends Partial<CompletedPlan> {
  readonly causes?: Causes;
  readonly results?: Outcome['results'];
}

/** The metrics of a partition, as they are exported. The cluster `c` has the name `staging`. */
export class ExportedMetrics {
  readonly clock = new VirtualClock(1_000_000);
  readonly partition: PartitionMetrics;
  readonly #metrics = new Metrics({ clusters: new Map([['c', 'staging']]), fleet: true, process: false });

  constructor() {
    this.partition = reconcilerMetrics(this.#metrics, this.clock).open(0);
  }

  /** One value per name; labels that are not given may have any value. */
  async values(names: readonly string[], labels: Labels = {}): Promise<readonly number[]> {
    const scraped = parseScrape(await this.#metrics.text());
    return names.map((name) => sampleOf(scraped, name, labels));
  }

  /** One value per set of labels. */
  async valuesOf(name: string, ...labels: readonly Labels[]): Promise<readonly number[]> {
    const scraped = parseScrape(await this.#metrics.text());
    return labels.map((one) => sampleOf(scraped, name, one));
  }

  async openMetrics(): Promise<string> {
    const { body } = await this.#metrics.expose('application/openmetrics-text; version=1.0.0');
    return body;
  }

  /** A decision about Service `web`. */
  decided(controller: Controller, counts: SyncCounts | null, plan?: PlannedMutations): void {
    const tracked = { triggers: null, hints: null, counts };
    const decided = plan ? ({ kind: 'planned', plan } as const) : ({ kind: 'unchanged' } as const);
    this.partition.decided(keyText, controller, { ...decided, controller, tracked });
  }

  /** A plan of Service `web`, decided at 1 s and completed at 3 s. It creates one slice unless given otherwise. */
  completed(controller: Controller, status: OutcomeStatus, given: GivenCompletion = {}): void {
    const { groups = [{ mutations: [create('a')] }], causes = podModified, results, ...rest } = given;
    const outcome = anOutcome(aPlan(controller, groups, causes), { completedAt: 3_000, ...(results && { results }) });
    const plan = { outcome, status, groups, incomplete: false, fanoutBytes: 0, compaction: undefined, counted };
    this.partition.completed(keyText, controller, { ...plan, ...rest });
  }
}
