import { descriptorOf } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import type { Metrics } from '@sluice/telemetry';

/**
 * The metrics of the keys of one controller in one partition (I4), as a client-go work queue measures them: an item is added
 * once until a worker gets it, and processed until done.
 */
export class WorkQueue {
  readonly #addedAt = new Map<string, number>();
  readonly #startedAt = new Map<string, number>();
  readonly #series;
  readonly #monotonic: () => number;
  readonly close: () => void;

  constructor(metrics: Metrics, controller: Controller, monotonic: () => number) {
    const labels = { name: descriptorOf(controller).metrics.queue };
    this.#monotonic = monotonic;
    this.#series = {
      adds: metrics.series('workqueue_adds_total', labels),
      retries: metrics.series('workqueue_retries_total', labels),
      queueDuration: metrics.series('workqueue_queue_duration_seconds', labels),
      workDuration: metrics.series('workqueue_work_duration_seconds', labels),
    };
    this.close = metrics.show(labels, {
      workqueue_depth: () => this.#addedAt.size,
      workqueue_unfinished_work_seconds: () => this.#runningSeconds().reduce((a, b) => a + b, 0),
      workqueue_longest_running_processor_seconds: () => this.#runningSeconds().reduce((a, b) => Math.max(a, b), 0),
    });
  }

  add(key: string): void {
    if (this.#addedAt.has(key)) return;
    this.#addedAt.set(key, this.#monotonic());
    this.#series.adds.add(1);
  }

  /** Starts to process a key, whether or not it was added. */
  start(key: string): void {
    const now = this.#monotonic();
    this.#startedAt.set(key, now);
    const addedAt = this.#addedAt.get(key);
    if (addedAt === undefined) return;
    this.#addedAt.delete(key);
    this.#series.queueDuration.add((now - addedAt) / 1000);
  }

  done(key: string): void {
    const startedAt = this.#startedAt.get(key);
    if (startedAt === undefined) return;
    this.#startedAt.delete(key);
    this.#series.workDuration.add((this.#monotonic() - startedAt) / 1000);
  }

  retry(): void {
    this.#series.retries.add(1);
  }

  #runningSeconds(): readonly number[] {
    const now = this.#monotonic();
    return [...this.#startedAt.values()].map((startedAt) => (now - startedAt) / 1000);
  }
}
