import type { Controller } from '@sluice/controllers';
import type { OutcomeStatus } from '@sluice/messages';
import type { ClusterLabel } from './cluster-label.ts';
import { type Count, counted } from './series/counted.ts';
import { type Distribution, distributed } from './series/distributed.ts';
import type { Exposition } from './series/exposition.ts';
import type { Labelled } from './series/labelled.ts';
import { shown } from './series/shown.ts';

export type WriteVerb = 'get' | 'create' | 'update' | 'delete';

/** How many writes of a cluster may be under way, are, and wait for that. */
export interface LimitReadings {
  readonly current: number;
  readonly inFlight: number;
  readonly waiting: number;
}

/** Seconds; what users wait for is between a millisecond and a minute. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const limitGauges: readonly (readonly [string, string, (readings: LimitReadings) => number])[] = [
  ['write_limit', "The writer's requests that may be under way at once; it adapts", ({ current }) => current],
  ['write_in_flight', "The writer's requests that are under way", ({ inFlight }) => inFlight],
  ['write_waiting', "The writer's requests that wait to be sent", ({ waiting }) => waiting],
];

/** Sluice's own metrics: how Changes become plans, and plans writes. */
export class PipelineMetrics {
  readonly #cluster: ClusterLabel;
  readonly #folded: Labelled<Count>;
  readonly #plans: Labelled<Count>;
  readonly #requests: Labelled<Count>;
  readonly #retries: Labelled<Count>;
  readonly #removalChecks: Labelled<Count>;
  readonly #contested: Labelled<Count>;
  readonly #deadLetters: Labelled<Count>;
  readonly #malformed: Labelled<Count>;
  readonly #differences: Labelled<Count>;
  readonly #latency: Labelled<Distribution>;
  readonly #limits = new Map<string, LimitReadings>();
  readonly #parked = new Map<Controller, Set<ReadonlySet<string>>>();

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    const counter = (name: string, help: string, labelNames: readonly string[]) =>
      counted(exposition, { name: `sluice_${name}`, help, labelNames });
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
    // From zero on: an increase is not seen in a series that begins with it.
    for (const topic of ['changes', 'mutations']) this.#deadLetters.of(topic);
    for (const part of ['service', 'pods', 'topology', 'endpoints', 'slices']) this.#differences.of(part);
    this.#malformed = counter('malformed_objects_total', 'Objects left out because they are malformed', [
      ...cluster.names,
      'resource',
    ]);
    this.#latency = distributed(exposition, {
      name: 'sluice_change_to_write_seconds',
      help: 'From the earliest event that caused a plan, as the watcher received it, to the last answer to its writes',
      buckets: latencyBuckets,
      labelNames: [...cluster.names, 'controller'],
    });
    for (const [name, help, read] of limitGauges) {
      shown(exposition, { name: `sluice_${name}`, help, labelNames: cluster.names }, (show) => {
        for (const [identity, readings] of this.#limits) show(read(readings), ...cluster.values(identity));
      });
    }
    const parked = {
      name: 'sluice_parked_keys',
      help: 'Services given up for now by a controller, until a change, a resync or the slow retry',
      labelNames: ['controller'],
    };
    shown(exposition, parked, (show) => {
      for (const [controller, sets] of this.#parked) {
        show(
          [...sets].reduce((sum, { size }) => sum + size, 0),
          controller,
        );
      }
    });
  }

  folded(kind: 'change' | 'outcome'): void {
    this.#folded.of(kind).inc();
  }

  settled(identity: string, controller: Controller, status: OutcomeStatus): void {
    this.#plans.of(...this.#cluster.values(identity), controller, status).inc();
  }

  written(identity: string, controller: Controller, latencyMs: number): void {
    this.#latency.of(...this.#cluster.values(identity), controller).observe(latencyMs / 1000);
  }

  /** `status`: of the HTTP answer, 0 if there was none; null: it succeeded. */
  answered(identity: string, verb: WriteVerb, resource: string, status: number | null): void {
    const code = status === null ? '2xx' : status === 0 ? '<error>' : `${status}`;
    this.#requests.of(...this.#cluster.values(identity), verb, resource, code).inc();
  }

  repeated(identity: string, requests: number): void {
    if (requests > 0) this.#retries.of(...this.#cluster.values(identity)).inc(requests);
  }

  /** A removal was looked at in the cluster: it may be made if it is confirmed. */
  checkedRemoval(identity: string, result: 'confirmed' | 'refuted' | 'unknown' | 'overtaken'): void {
    this.#removalChecks.of(...this.#cluster.values(identity), result).inc();
  }

  contested(identity: string, controller: Controller): void {
    this.#contested.of(...this.#cluster.values(identity), controller).inc();
  }

  /** Tells of the limit of a cluster's writes, for as long as the returned function is not called. */
  limited(identity: string, readings: LimitReadings): () => void {
    this.#limits.set(identity, readings);
    return () => {
      if (this.#limits.get(identity) === readings) this.#limits.delete(identity);
    };
  }

  setAside(topic: 'changes' | 'mutations'): void {
    this.#deadLetters.of(topic).inc();
  }

  malformed(identity: string, resource: string): void {
    this.#malformed.of(...this.#cluster.values(identity), resource).inc();
  }

  /** A view was found to differ from what the watcher knows. */
  differed(parts: readonly string[]): void {
    for (const part of parts) this.#differences.of(part).inc();
  }

  /** Counts what is in this set as parked, for as long as the returned function is not called. */
  countParked(controller: Controller, keys: ReadonlySet<string>): () => void {
    const sets = this.#parked.get(controller) ?? new Set();
    this.#parked.set(controller, sets.add(keys));
    return () => void sets.delete(keys);
  }
}
