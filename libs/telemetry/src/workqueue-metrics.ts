import type { Controller } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';
import { Counter, type CounterSeries } from './prometheus/counter.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { Histogram, type HistogramSeries } from './prometheus/histogram.ts';
import { observableGauge } from './prometheus/metrics.ts';

/** Names of the work queues in kube-controller-manager. */
const queueNames: Readonly<Record<Controller, string>> = {
  endpoints: 'endpoint',
  endpointslice: 'endpoint_slice',
  endpointslicemirroring: 'endpoint_slice_mirroring',
};

/** 10 ns, 100 ns … 10 s. */
const durationBuckets = exponentialBuckets(10e-9, 10, 10);

/** The metrics of client-go's work queues (I4), summed over the open partitions of this process. */
export class WorkqueueMetrics {
  readonly adds: Counter;
  readonly retries: Counter;
  readonly queueDuration: Histogram;
  readonly workDuration: Histogram;
  readonly #queues = new Map<string, Set<WorkQueue>>(Object.values(queueNames).map((name) => [name, new Set()]));

  constructor(exposition: Exposition) {
    const labelNames = ['name'];
    const duration = (name: string, help: string) =>
      new Histogram(exposition, { name: `workqueue_${name}`, help, buckets: durationBuckets, labelNames });
    const total = (name: string, help: string) =>
      new Counter(exposition, { name: `workqueue_${name}`, help, labelNames });
    this.adds = total('adds_total', 'Total number of adds handled by workqueue');
    this.retries = total('retries_total', 'Total number of retries handled by workqueue');
    this.queueDuration = duration(
      'queue_duration_seconds',
      'How long in seconds an item stays in workqueue before being requested.',
    );
    this.workDuration = duration(
      'work_duration_seconds',
      'How long in seconds processing an item from workqueue takes.',
    );
    // A queue is exposed before its first item.
    for (const name of Object.values(queueNames)) {
      for (const metric of [this.adds, this.retries, this.queueDuration, this.workDuration]) metric.series({ name });
    }
    const gauge = (name: string, help: string, of: (queues: readonly WorkQueue[]) => number) =>
      observableGauge(exposition, { name: `workqueue_${name}`, help, labelNames }, (report) => {
        for (const [queue, parts] of this.#queues) report(of([...parts]), { name: queue });
      });
    gauge('depth', 'Current depth of workqueue', (queues) => sum(queues.map(({ depth }) => depth)));
    gauge(
      'unfinished_work_seconds',
      "How many seconds of work has been done that is in progress and hasn't been observed by work_duration.",
      (queues) => sum(queues.flatMap((queue) => queue.runningSeconds())),
    );
    gauge(
      'longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
      (queues) => queues.flatMap((queue) => queue.runningSeconds()).reduce((a, b) => Math.max(a, b), 0),
    );
  }

  /** Opens the queue of one controller in one partition. */
  open(controller: Controller, monotonic: () => number): WorkQueue {
    const name = queueNames[controller];
    const queue = new WorkQueue(this, name, monotonic, () => this.#queues.get(name)?.delete(queue));
    this.#queues.get(name)?.add(queue);
    return queue;
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Measures keys as a client-go work queue does: an item is added once until a worker gets it, and processed until done. */
export class WorkQueue {
  readonly #adds: CounterSeries;
  readonly #retries: CounterSeries;
  readonly #queueDuration: HistogramSeries;
  readonly #workDuration: HistogramSeries;
  readonly #monotonic: () => number;
  readonly #addedAt = new Map<string, number>();
  readonly #startedAt = new Map<string, number>();
  readonly close: () => void;

  constructor(metrics: WorkqueueMetrics, name: string, monotonic: () => number, close: () => void) {
    this.#adds = metrics.adds.series({ name });
    this.#retries = metrics.retries.series({ name });
    this.#queueDuration = metrics.queueDuration.series({ name });
    this.#workDuration = metrics.workDuration.series({ name });
    this.#monotonic = monotonic;
    this.close = close;
  }

  get depth(): number {
    return this.#addedAt.size;
  }

  add(key: string): void {
    if (this.#addedAt.has(key)) return;
    this.#addedAt.set(key, this.#monotonic());
    this.#adds.inc();
  }

  /** Starts to process a key, whether or not it was added. */
  start(key: string): void {
    const now = this.#monotonic();
    this.#startedAt.set(key, now);
    const addedAt = this.#addedAt.get(key);
    if (addedAt === undefined) return;
    this.#addedAt.delete(key);
    this.#queueDuration.observe((now - addedAt) / 1000);
  }

  done(key: string): void {
    const startedAt = this.#startedAt.get(key);
    if (startedAt === undefined) return;
    this.#startedAt.delete(key);
    this.#workDuration.observe((this.#monotonic() - startedAt) / 1000);
  }

  retry(): void {
    this.#retries.inc();
  }

  runningSeconds(): number[] {
    const now = this.#monotonic();
    return [...this.#startedAt.values()].map((startedAt) => (now - startedAt) / 1000);
  }
}
