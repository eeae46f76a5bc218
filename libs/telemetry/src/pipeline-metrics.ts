import type { Controller } from '@sluice/controllers';
import type { Causes, OutcomeStatus } from '@sluice/messages';
import type { ClusterLabel } from './cluster-label.ts';
import { exemplarOf } from './exemplar.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/observable.ts';
import { type CounterVec, counterVec, type HistogramVec, histogramVec } from './prometheus/vec.ts';

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
  ['write_limit', "The writer's requests that may be under way at once; it adapts", ({ current }) => current],
  ['write_in_flight', "The writer's requests that are under way", ({ inFlight }) => inFlight],
  ['write_waiting', "The writer's requests that wait to be sent", ({ waiting }) => waiting],
];

/** Sluice's own metrics of the pipeline from Changes to plans to writes. */
export class PipelineMetrics {
  readonly #cluster: ClusterLabel;
  readonly #folded: CounterVec;
  readonly #plans: CounterVec;
  readonly #requests: CounterVec;
  readonly #retries: CounterVec;
  readonly #removalChecks: CounterVec;
  readonly #contested: CounterVec;
  readonly #deadLetters: CounterVec;
  readonly #malformed: CounterVec;
  readonly #differences: CounterVec;
  readonly #latency: HistogramVec;
  readonly #limits = new Map<string, LimitReadings>();
  readonly #parked = new Map<Controller, Set<ReadonlySet<string>>>();

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    const counter = (name: string, help: string, labelNames: readonly string[]) =>
      counterVec(exposition, { name: `sluice_${name}`, help, labelNames });
    this.#folded = counter('records_folded_total', 'Changes and Outcomes folded by reconcilers', ['kind']);
    this.#plans = counter('plans_total', 'Plans by what became of them', [...cluster.names, 'controller', 'status']);
    this.#requests = counter('write_requests_total', "The writer's requests to API servers, by the answer", [
      ...cluster.names,
      'verb',
      'resource',
      'code',
    ]);
    this.#retries = counter('write_retries_total', "The writer's requests that were repeated", cluster.names);
    this.#removalChecks = counter(
      'removal_checks_total',
      'Removals of endpoints looked at in the cluster before they are made',
      [...cluster.names, 'result'],
    );
    this.#contested = counter(
      'contested_plans_total',
      'Plans that put right what another writer undid several times before',
      [...cluster.names, 'controller'],
    );
    this.#deadLetters = counter('dead_letters_total', 'Records set aside because they cannot be used', ['topic']);
    this.#differences = counter('view_differences_total', 'Views that were not what the watcher knows, and repaired', [
      'part',
    ]);
    // Exposed as 0 from the start, so that rate() sees the first increase.
    for (const topic of ['changes', 'mutations']) this.#deadLetters.withLabelValues(topic);
    for (const part of ['service', 'pods', 'topology', 'endpoints', 'slices']) this.#differences.withLabelValues(part);
    this.#malformed = counter('malformed_objects_total', 'Objects left out because they are malformed', [
      ...cluster.names,
      'resource',
    ]);
    this.#latency = histogramVec(exposition, {
      name: 'sluice_change_to_write_seconds',
      help: 'From the earliest event that caused a plan, as the watcher received it, to the last answer to its writes',
      buckets: latencyBuckets,
      labelNames: [...cluster.names, 'controller'],
    });
    for (const [name, help, read] of limitGauges) {
      observableGauge(exposition, { name: `sluice_${name}`, help, labelNames: cluster.names }, (report) => {
        for (const [identity, readings] of this.#limits) report(read(readings), ...cluster.values(identity));
      });
    }
    const parked = {
      name: 'sluice_parked_keys',
      help: 'Services given up for now by a controller, until a change, a resync or the slow retry',
      labelNames: ['controller'],
    };
    observableGauge(exposition, parked, (report) => {
      for (const [controller, sets] of this.#parked) {
        report(
          [...sets].reduce((sum, { size }) => sum + size, 0),
          controller,
        );
      }
    });
  }

  folded(kind: 'change' | 'outcome'): void {
    this.#folded.withLabelValues(kind).inc();
  }

  settled(identity: string, controller: Controller, status: OutcomeStatus): void {
    this.#plans.withLabelValues(...this.#cluster.values(identity), controller, status).inc();
  }

  /** Records the latency of a plan that was applied, from its earliest cause to the last response. */
  written(identity: string, controller: Controller, latencyMs: number, causes: Causes): void {
    const child = this.#latency.withLabelValues(...this.#cluster.values(identity), controller);
    child.observe(latencyMs / 1000, exemplarOf(causes));
  }

  /** `status`: the HTTP status of a failure, 0 without a response; null: success. */
  answered(identity: string, verb: WriteVerb, resource: string, status: number | null): void {
    const code = status === null ? '2xx' : status === 0 ? '<error>' : `${status}`;
    this.#requests.withLabelValues(...this.#cluster.values(identity), verb, resource, code).inc();
  }

  repeated(identity: string, requests: number): void {
    if (requests > 0) this.#retries.withLabelValues(...this.#cluster.values(identity)).inc(requests);
  }

  /** Counts a removal that was verified with a quorum read. */
  checkedRemoval(identity: string, result: 'confirmed' | 'refuted' | 'unknown' | 'overtaken'): void {
    this.#removalChecks.withLabelValues(...this.#cluster.values(identity), result).inc();
  }

  contested(identity: string, controller: Controller): void {
    this.#contested.withLabelValues(...this.#cluster.values(identity), controller).inc();
  }

  /** Exposes the concurrency limit of a cluster's writes until the returned function is called. */
  limited(identity: string, readings: LimitReadings): () => void {
    this.#limits.set(identity, readings);
    return () => {
      if (this.#limits.get(identity) === readings) this.#limits.delete(identity);
    };
  }

  setAside(topic: 'changes' | 'mutations'): void {
    this.#deadLetters.withLabelValues(topic).inc();
  }

  malformed(identity: string, resource: string): void {
    this.#malformed.withLabelValues(...this.#cluster.values(identity), resource).inc();
  }

  /** Counts a Service whose state differed from the watcher's, by the parts that differed. */
  differed(parts: readonly string[]): void {
    for (const part of parts) this.#differences.withLabelValues(part).inc();
  }

  /** Counts the keys of this set as parked until the returned function is called. */
  countParked(controller: Controller, keys: ReadonlySet<string>): () => void {
    const sets = this.#parked.get(controller) ?? new Set();
    this.#parked.set(controller, sets.add(keys));
    return () => void sets.delete(keys);
  }
}
