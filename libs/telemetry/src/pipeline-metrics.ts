import type { Controller } from '@sluice/controllers';
import type { Causes, OutcomeStatus } from '@sluice/messages';
import type { ClusterLabel } from './cluster-label.ts';
import { exemplarOf } from './exemplar.ts';
import { Counter } from './prometheus/counter.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { Histogram } from './prometheus/histogram.ts';
import { observableGauge } from './prometheus/metrics.ts';

export type WriteVerb = 'get' | 'create' | 'update' | 'delete';

/** The writer's concurrency limit for one cluster: the limit, requests in flight, and requests waiting for a slot. */
export interface LimitReadings {
  readonly current: number;
  readonly inFlight: number;
  readonly waiting: number;
}

/** In seconds. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const limitGauges: readonly (readonly [string, string, (readings: LimitReadings) => number])[] = [
  [
    'write_concurrency_limit',
    'Maximum number of concurrent API requests of the writer; adapts to response times',
    ({ current }) => current,
  ],
  ['write_requests_in_flight', 'API requests of the writer in flight', ({ inFlight }) => inFlight],
  ['write_requests_queued', 'API requests of the writer that wait for a free slot', ({ waiting }) => waiting],
];

type CheckResult = 'confirmed' | 'refuted' | 'unknown' | 'overtaken';

/** Sluice's own metrics of the pipeline from Changes to plans to writes. */
export class PipelineMetrics {
  readonly #cluster: ClusterLabel;
  readonly #messages: Counter;
  readonly #plans: Counter;
  readonly #requests: Counter;
  readonly #retries: Counter;
  readonly #delayedRetries: Counter;
  readonly #removalChecks: Counter;
  readonly #additionChecks: Counter;
  readonly #competingPlans: Counter;
  readonly #fanoutBytes: Counter;
  readonly #compactedSlices: Counter;
  readonly #compactedEndpoints: Counter;
  readonly #foreignWrites: Counter;
  readonly #restoreProofs: Counter;
  readonly #deadLetters: Counter;
  readonly #malformed: Counter;
  readonly #digestMismatches: Counter;
  readonly #latency: Histogram;
  readonly #limits = new Map<string, LimitReadings>();
  readonly #parked = new Map<Controller, Set<ReadonlySet<string>>>();

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    const total = (name: string, help: string, labelNames: readonly string[]) =>
      new Counter(exposition, { name: `sluice_${name}`, help, labelNames });
    this.#messages = total('messages_processed_total', 'Changes and Outcomes processed by reconcilers', ['kind']);
    this.#plans = total('plans_total', 'Plans by the result of applying them', [
      ...cluster.names,
      'controller',
      'status',
    ]);
    this.#requests = total('write_requests_total', 'API requests of the writer, by response code', [
      ...cluster.names,
      'verb',
      'resource',
      'code',
    ]);
    this.#retries = total('write_retries_total', 'API requests that the writer retried', cluster.names);
    this.#delayedRetries = total(
      'write_retries_delayed_total',
      'Retries of plans that the limit of retries has delayed',
      cluster.names,
    );
    this.#removalChecks = total(
      'mass_removal_checks_total',
      'Endpoint removals that the mass-removal guard verified with a quorum read',
      [...cluster.names, 'result'],
    );
    this.#additionChecks = total(
      'mass_addition_checks_total',
      'New addresses that the mass-addition guard verified with a quorum read',
      [...cluster.names, 'result'],
    );
    this.#competingPlans = total(
      'competing_controller_plans_total',
      'Plans that restore objects another controller has repeatedly changed',
      [...cluster.names, 'controller'],
    );
    this.#fanoutBytes = total(
      'slice_fanout_bytes_total',
      'Estimated bytes that all watchers of EndpointSlices receive for the writes',
      cluster.names,
    );
    this.#compactedSlices = total(
      'compaction_slices_removed_total',
      'EndpointSlices that compaction has emptied and deleted',
      cluster.names,
    );
    this.#compactedEndpoints = total(
      'compaction_endpoints_moved_total',
      'Endpoints that compaction has moved to another EndpointSlice',
      cluster.names,
    );
    this.#foreignWrites = total(
      'foreign_slice_writes_total',
      'Writes of other clients to slices that Sluice manages, proven by their generations',
      [...cluster.names, 'controller'],
    );
    this.#restoreProofs = total(
      'cluster_restore_proofs_total',
      'Changes that prove that the cluster was restored from a backup',
      cluster.names,
    );
    this.#deadLetters = total('dead_letters_total', 'Records dead-lettered because they are invalid', ['topic']);
    this.#digestMismatches = total(
      'state_digest_mismatches_total',
      "Services whose state differed from the watcher's and was resynced, by part",
      ['part'],
    );
    // Exposed as 0 from the start, so that rate() sees the first increase.
    for (const topic of ['changes', 'mutations']) this.#deadLetters.inc({ topic }, 0);
    for (const part of ['service', 'pods', 'topology', 'endpoints', 'slices']) this.#digestMismatches.inc({ part }, 0);
    this.#malformed = total('malformed_objects_total', 'Objects ignored because they are malformed', [
      ...cluster.names,
      'resource',
    ]);
    this.#latency = new Histogram(exposition, {
      exemplars: true,
      name: 'sluice_change_to_write_seconds',
      help: 'Time from the earliest event of a plan, as received by the watcher, to the last response to its writes',
      buckets: latencyBuckets,
      labelNames: [...cluster.names, 'controller'],
    });
    for (const [name, help, read] of limitGauges) {
      observableGauge(exposition, { name: `sluice_${name}`, help, labelNames: cluster.names }, (report) => {
        for (const [identity, readings] of this.#limits) report(read(readings), cluster.labels(identity));
      });
    }
    const parked = {
      name: 'sluice_parked_services',
      help: 'Services parked by a controller until a change, a resync or the slow retry',
      labelNames: ['controller'],
    };
    observableGauge(exposition, parked, (report) => {
      for (const [controller, sets] of this.#parked) {
        report(
          [...sets].reduce((sum, { size }) => sum + size, 0),
          { controller },
        );
      }
    });
  }

  messageProcessed(kind: 'change' | 'outcome'): void {
    this.#messages.inc({ kind });
  }

  planCompleted(identity: string, controller: Controller, status: OutcomeStatus): void {
    this.#plans.inc({ ...this.#cluster.labels(identity), controller, status });
  }

  fannedOut(identity: string, bytes: number): void {
    this.#fanoutBytes.inc(this.#cluster.labels(identity), bytes);
  }

  compacted(identity: string, { removed, moved }: { readonly removed: number; readonly moved: number }): void {
    this.#compactedSlices.inc(this.#cluster.labels(identity), removed);
    this.#compactedEndpoints.inc(this.#cluster.labels(identity), moved);
  }

  /** Records the latency of a plan that was applied, from its earliest cause to the last response. */
  observeLatency(identity: string, controller: Controller, latencyMs: number, causes: Causes): void {
    const labels = { ...this.#cluster.labels(identity), controller };
    this.#latency.observe(labels, latencyMs / 1000, exemplarOf(causes));
  }

  /** `status`: the HTTP status of a failure, 0 without a response; null: success. */
  requestCompleted(identity: string, verb: WriteVerb, resource: string, status: number | null): void {
    const code = status === null ? '2xx' : status === 0 ? '<error>' : `${status}`;
    this.#requests.inc({ ...this.#cluster.labels(identity), verb, resource, code });
  }

  requestsRetried(identity: string, requests: number): void {
    if (requests > 0) this.#retries.inc(this.#cluster.labels(identity), requests);
  }

  /** Counts a plan whose retry waits for the limit of retries. */
  retryDelayed(identity: string): void {
    this.#delayedRetries.inc(this.#cluster.labels(identity));
  }

  /** Counts a removal that was verified with a quorum read. */
  removalChecked(identity: string, result: CheckResult): void {
    this.#removalChecks.inc({ ...this.#cluster.labels(identity), result });
  }

  /** Counts a plan whose new addresses were verified with a quorum read. */
  additionChecked(identity: string, result: CheckResult): void {
    this.#additionChecks.inc({ ...this.#cluster.labels(identity), result });
  }

  foreignWrites(identity: string, controller: Controller, count: number): void {
    this.#foreignWrites.inc({ ...this.#cluster.labels(identity), controller }, count);
  }

  restoreProven(identity: string): void {
    this.#restoreProofs.inc(this.#cluster.labels(identity));
  }

  competingPlan(identity: string, controller: Controller): void {
    this.#competingPlans.inc({ ...this.#cluster.labels(identity), controller });
  }

  /** Exposes the concurrency limit of a cluster's writes until the returned function is called. */
  exposeLimit(identity: string, readings: LimitReadings): () => void {
    this.#limits.set(identity, readings);
    return () => {
      if (this.#limits.get(identity) === readings) this.#limits.delete(identity);
    };
  }

  deadLettered(topic: 'changes' | 'mutations'): void {
    this.#deadLetters.inc({ topic });
  }

  malformed(identity: string, resource: string): void {
    this.#malformed.inc({ ...this.#cluster.labels(identity), resource });
  }

  /** Counts a Service whose state differed from the watcher's, by the parts that differed. */
  digestMismatch(parts: readonly string[]): void {
    for (const part of parts) this.#digestMismatches.inc({ part });
  }

  /** Counts the keys of this set as parked until the returned function is called. */
  countParked(controller: Controller, keys: ReadonlySet<string>): () => void {
    const sets = this.#parked.get(controller) ?? new Set();
    this.#parked.set(controller, sets.add(keys));
    return () => void sets.delete(keys);
  }
}
