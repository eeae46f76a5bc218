import { controllers, descriptorOf } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';

/** One metric. The label `identity` of a cluster is exposed as its name, `cluster`, by a process that serves several. */
export interface MetricRow<Type extends string = string, Label extends string = string> {
  readonly type: Type;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds, ascending. Default: those of the Prometheus client libraries, in seconds. */
  readonly buckets?: readonly number[];
  /** Whether buckets name the trace of a recent value. */
  readonly exemplars?: boolean;
  /** What is exposed if several report a value with the same labels. Default: the last one. */
  readonly combine?: 'sum' | 'max';
  /** Values of its one label that are exposed as 0 from the start, so that rate() sees the first increase. */
  readonly initial?: readonly string[];
}

type More = Omit<MetricRow, 'type' | 'help' | 'labels'>;

function row<const Type extends string>(type: Type) {
  return <const Label extends string>(help: string, labels: readonly Label[] = [], more: More = {}) =>
    ({ type, help, labels, ...more }) as MetricRow<Type, Label>;
}

const counter = row('counter');
const histogram = row('histogram');
/** Its values come from callbacks at each scrape. */
const gauge = row('gauge');
/** A counter whose values come from callbacks at each scrape. */
const observedCounter = row('observed counter');

const clusterCounter = <const Label extends string>(help: string, ...labels: readonly Label[]) =>
  counter(help, ['identity', ...labels]);

const sum: More = { combine: 'sum' };

const queues: More = { initial: controllers.map((controller) => descriptorOf(controller).metrics.queue) };
const queueGauge = (combine: 'sum' | 'max', help: string) => gauge(help, ['name'], { ...queues, combine });
/** Buckets: 10 ns, 100 ns … 10 s. */
const queueDuration = (help: string) =>
  histogram(help, ['name'], { ...queues, buckets: exponentialBuckets(10e-9, 10, 10) });

/** In seconds. An upstream controller writes within milliseconds, or waits for its client-side rate limit. */
const upTo1m = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** In seconds: the range of upstream's network programming latency, with more buckets below 100 ms. */
const upTo5m = [...upTo1m, 120, 300];

/** The metrics of Sluice, besides those that controllers declare (docs/reference/metrics.md). */
export const metricsTable = {
  // Client-go's work queues (I4), summed over the open partitions of this process.
  workqueue_adds_total: counter('Total number of adds handled by workqueue', ['name'], queues),
  workqueue_retries_total: counter('Total number of retries handled by workqueue', ['name'], queues),
  workqueue_queue_duration_seconds: queueDuration(
    'How long in seconds an item stays in workqueue before being requested.',
  ),
  workqueue_work_duration_seconds: queueDuration('How long in seconds processing an item from workqueue takes.'),
  workqueue_depth: queueGauge('sum', 'Current depth of workqueue'),
  workqueue_unfinished_work_seconds: queueGauge(
    'sum',
    "How many seconds of work has been done that is in progress and hasn't been observed by work_duration.",
  ),
  workqueue_longest_running_processor_seconds: queueGauge(
    'max',
    'How many seconds has the longest running processor for workqueue been running.',
  ),

  sluice_messages_processed_total: counter('Changes and Outcomes processed by reconcilers', ['kind']),
  sluice_plans_total: clusterCounter('Plans by the result of applying them', 'controller', 'status'),
  sluice_write_requests_total: clusterCounter(
    'API requests of the writer, by response code',
    'verb',
    'resource',
    'code',
  ),
  sluice_write_retries_total: clusterCounter('API requests that the writer retried'),
  sluice_write_retries_delayed_total: clusterCounter('Retries of plans that the limit of retries has delayed'),
  sluice_mass_removal_checks_total: clusterCounter(
    'Endpoint removals that the mass-removal guard verified with a quorum read',
    'result',
  ),
  sluice_mass_addition_checks_total: clusterCounter(
    'New addresses that the mass-addition guard verified with a quorum read',
    'result',
  ),
  sluice_competing_controller_plans_total: clusterCounter(
    'Plans that restore objects another controller has repeatedly changed',
    'controller',
  ),
  sluice_slice_fanout_bytes_total: clusterCounter(
    'Estimated bytes that all watchers of EndpointSlices receive for the writes',
  ),
  sluice_compaction_slices_removed_total: clusterCounter('EndpointSlices that compaction has emptied and deleted'),
  sluice_compaction_endpoints_moved_total: clusterCounter(
    'Endpoints that compaction has moved to another EndpointSlice',
  ),
  sluice_foreign_slice_writes_total: clusterCounter(
    'Writes of other clients to slices that Sluice manages, proven by their generations',
    'controller',
  ),
  sluice_cluster_restore_proofs_total: clusterCounter('Changes that prove that the cluster was restored from a backup'),
  sluice_dead_letters_total: counter('Records dead-lettered because they are invalid', ['topic'], {
    initial: ['changes', 'mutations'],
  }),
  sluice_state_digest_mismatches_total: counter(
    "Services whose state differed from the watcher's and was resynced, by part",
    ['part'],
    { initial: ['service', 'pods', 'topology', 'endpoints', 'slices'] },
  ),
  sluice_malformed_objects_total: clusterCounter('Objects ignored because they are malformed', 'resource'),
  sluice_change_to_write_seconds: histogram(
    'Time from the earliest event of a plan, as received by the watcher, to the last response to its writes',
    ['identity', 'controller'],
    { buckets: upTo1m, exemplars: true },
  ),
  sluice_write_concurrency_limit: gauge('Maximum number of concurrent API requests of the writer; adapts to refusals', [
    'identity',
  ]),
  sluice_write_requests_in_flight: gauge('API requests of the writer in flight', ['identity']),
  sluice_write_requests_queued: gauge('API requests of the writer that wait for a free slot', ['identity']),
  sluice_parked_services: gauge(
    'Services parked by a controller until a change, a resync or the slow retry',
    ['controller'],
    sum,
  ),
  sluice_trigger_to_applied_seconds: histogram(
    'Time from each event, as received by the watcher, to the last response to the writes it caused',
    ['identity', 'cause'],
    { buckets: upTo5m, exemplars: true },
  ),
  sluice_plan_causes: histogram('Events coalesced into one plan', ['controller'], {
    buckets: exponentialBuckets(1, 2, 11),
  }),
  sluice_watch_idle_seconds: gauge(
    'Time since the last event or bookmark of a watch; bookmarks arrive about every minute',
    ['identity', 'resource'],
    { combine: 'max' },
  ),
  sluice_watch_busy_seconds_total: observedCounter(
    'Time for which the lists and watches of a cluster used the event loop',
    ['cluster'],
  ),
  sluice_watch_wait_seconds_total: observedCounter(
    'Time for which the lists and watches of a cluster waited because it exceeded its share of the event loop',
    ['cluster'],
  ),
  sluice_informer_cache_bytes: gauge(
    'Estimated memory of the objects that a watcher keeps',
    ['identity', 'resource'],
    sum,
  ),
  sluice_informer_cache_limit_bytes: gauge(
    'Maximum memory for the objects of a cluster; a list or watch beyond it fails',
    ['identity'],
    sum,
  ),

  sluice_lease_held: gauge('1 for each partition or cluster that this process owns', ['role', 'scope']),
  sluice_lease_fencing_token: gauge('Fencing token of each lease of this process; increases with each take-over', [
    'role',
    'scope',
  ]),
  sluice_fencing_rejections_total: counter('Work abandoned because the lease was lost or expired', ['role', 'scope']),
  sluice_lease_unreadable_entries_total: counter(
    'Unreadable entries that this process has removed from the leases in the store',
    ['role'],
  ),
  sluice_partition_lag_records: gauge('Records in a partition of this process that are not yet processed', [
    'topic',
    'partition',
  ]),
  sluice_utilization_ratio: gauge('Part of the last 15 s or more for which the event loop was busy'),
  sluice_backlog_seconds: gauge('Time that this process needs for its unprocessed Changes, at its present speed'),
  sluice_desired_replicas: gauge(
    "This process's part of the number of replicas that its Deployment needs; the sum over all Pods is that number",
  ),
  sluice_cluster_phase: gauge('1 for the current phase of each configured cluster', ['cluster', 'phase']),
  sluice_backend_up: gauge('1 if bus or store answers this process within a second, else 0', ['backend']),
  sluice_store_problems: gauge('Settings of the store that can lose data, by kind; checked each minute', ['kind']),
  sluice_trace_spans_exported_total: observedCounter('Spans exported to the collector'),
  sluice_trace_spans_dropped_total: observedCounter('Spans that were not exported, by reason', ['reason']),

  sluice_service_problems: gauge('Services by what is wrong with them, as a recording shows it', [
    'identity',
    'reason',
    'severity',
  ]),

  sluice_logical_services: gauge('Services of all clusters by what is wrong with them, seen over all clusters', [
    'condition',
    'severity',
  ]),

  sluice_shadow_services: gauge('Services by the result of comparing Sluice with the upstream controllers', ['result']),
  sluice_shadow_differences_total: clusterCounter('Differences that lasted longer than the settle time', 'explained'),
  sluice_shadow_lead_seconds: histogram(
    "Time from Sluice's decision to the watch event of the upstream controller's equivalent write",
    ['identity', 'controller'],
    { buckets: upTo1m },
  ),

  sluice_console_services: gauge('Services with a history'),
  sluice_console_history_bytes: gauge('Size of the history'),
  sluice_console_history_start_timestamp_seconds: gauge('Time of the oldest record of the history'),
  sluice_console_partitions_backfilling: gauge('Partitions whose older records are still being read'),
};

/** All metrics. Those without the prefix `sluice_` are upstream's (section I). */
export function allMetrics(): Readonly<Record<string, MetricRow>> {
  const own = controllers.flatMap((controller) => {
    const { subsystem, rows = {} } = descriptorOf(controller).metrics.own ?? {};
    return Object.entries(rows).map(([name, row]) => [`${subsystem}_${name}`, row] as const);
  });
  return { ...Object.fromEntries(own), ...metricsTable };
}

type Table = typeof metricsTable;

/** Names of the metrics of a type. */
export type MetricName<Type extends string = string> = {
  [Name in keyof Table]: Table[Name]['type'] extends Type ? Name : never;
}[keyof Table];

/** The labels of a metric. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<Table[Name]['labels'][number], string | number>>;
