import type { Controller } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';
import { type Count, counted } from './series/counted.ts';
import { type Distribution, distributed } from './series/distributed.ts';
import type { Exposition } from './series/exposition.ts';
import type { Labelled } from './series/labelled.ts';
import { shown } from './series/shown.ts';

/** Upstream's names of the controllers' queues. */
export const queueNames: Readonly<Record<Controller, string>> = {
  endpoints: 'endpoint',
  endpointslice: 'endpoint_slice',
  endpointslicemirroring: 'endpoint_slice_mirroring',
};

/** 10 ns, 100 ns … 10 s. */
const durationBuckets = exponentialBuckets(10e-9, 10, 10);

/** The metrics of client-go's work queues (I4), summed over the queues of all partitions that are open here. */
export class WorkqueueMetrics {
  readonly adds: Labelled<Count>;
  readonly retries: Labelled<Count>;
  readonly queueDuration: Labelled<Distribution>;
  readonly workDuration: Labelled<Distribution>;
  readonly #queues = new Map<string, Set<WorkQueue>>(Object.values(queueNames).map((name) => [name, new Set()]));

  constructor(exposition: Exposition) {
    const labelNames = ['name'];
    const histogram = (name: string, help: string) =>
      distributed(exposition, { name: `workqueue_${name}`, help, buckets: durationBuckets, labelNames });
    const counter = (name: string, help: string) =>
      counted(exposition, { name: `workqueue_${name}`, help, labelNames });
    this.adds = counter('adds_total', 'Total number of adds handled by workqueue');
    this.retries = counter('retries_total', 'Total number of retries handled by workqueue');
    this.queueDuration = histogram(
      'queue_duration_seconds',
      'How long in seconds an item stays in workqueue before being requested.',
    );
    this.workDuration = histogram(
      'work_duration_seconds',
      'How long in seconds processing an item from workqueue takes.',
    );
    // A queue shows before anything has happened to it.
    for (const name of Object.values(queueNames)) {
      for (const metric of [this.adds, this.retries, this.queueDuration, this.workDuration]) metric.of(name);
    }
    const gauge = (name: string, help: string, of: (queues: readonly WorkQueue[]) => number) =>
      shown(exposition, { name: `workqueue_${name}`, help, labelNames }, (show) => {
        for (const [queue, parts] of this.#queues) show(of([...parts]), queue);
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

  /** The queue of one controller in one partition. */
  open(controller: Controller, monotonic: () => number): WorkQueue {
    const name = queueNames[controller];
    const queue = new WorkQueue(this, name, monotonic, () => this.#queues.get(name)?.delete(queue));
    this.#queues.get(name)?.add(queue);
    return queue;
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Mirrors what a client-go queue would note of keys: added once until taken, taken until done. */
export class WorkQueue {
  readonly #adds: Count;
  readonly #retries: Count;
  readonly #queueDuration: Distribution;
  readonly #workDuration: Distribution;
  readonly #monotonic: () => number;
  readonly #addedAt = new Map<string, number>();
  readonly #startedAt = new Map<string, number>();
  readonly close: () => void;

  constructor(metrics: WorkqueueMetrics, name: string, monotonic: () => number, close: () => void) {
    this.#adds = metrics.adds.of(name);
    this.#retries = metrics.retries.of(name);
    this.#queueDuration = metrics.queueDuration.of(name);
    this.#workDuration = metrics.workDuration.of(name);
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

  /** Takes a key off the queue, whether or not it was seen on it. */
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
