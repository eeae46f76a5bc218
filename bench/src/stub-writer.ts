import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, type Delivery, type PartitionReader, streamStart } from '@sluice/bus';
import {
  comparePlans,
  decodeMessage,
  encodeMessage,
  type Outcome,
  type PlanId,
  type PlannedMutations,
  partitionOf,
} from '@sluice/messages';
import { PartitionAppender } from './partition-appender.ts';
import type { Applied, StubCluster } from './stub-cluster.ts';

export interface StubWriterOptions {
  readonly bus: Bus;
  readonly cluster: StubCluster;
  /** Simulated API server time per plan, in milliseconds. */
  readonly writeMs: number;
  /** Called with each plan on arrival. */
  readonly onPlan: (plan: PlannedMutations, at: number) => void;
  /** Called after a plan is applied, before its Outcome is published. */
  readonly onApplied: (plan: PlannedMutations, applied: Applied) => void;
}

/** Publishes an Outcome for every plan, like all writers of a fleet together; the cluster is a stub. */
export class StubWriter {
  readonly appender: PartitionAppender;
  readonly #options: StubWriterOptions;
  readonly #readers: readonly PartitionReader[];
  /** The last plan by Service and controller. */
  readonly #done = new Map<string, PlanId>();
  #plans = 0;
  #waiting = 0;
  #failure: unknown;

  constructor(options: StubWriterOptions) {
    const { bus } = options;
    this.#options = options;
    this.appender = new PartitionAppender(bus);
    this.#readers = Array.from({ length: bus.partitions }, (_, partition) =>
      bus.read('mutations', partition, streamStart),
    );
    for (const reader of this.#readers) void this.#read(reader).catch((error: unknown) => this.#fail(error));
  }

  /** Number of plans received. */
  get plans(): number {
    return this.#plans;
  }

  /** True if every received plan has its Outcome. */
  get idle(): boolean {
    return this.#waiting === 0 && this.appender.idle;
  }

  /** @throws the first error: a plan the cluster rejected, or a bus failure */
  check(): void {
    this.appender.check();
    if (this.#failure !== undefined) throw this.#failure;
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }

  async #read(reader: PartitionReader): Promise<void> {
    for (;;) {
      const records = await reader.next(256);
      if (records.length === 0) return;
      this.#plans += records.length;
      this.#waiting += records.length;
      void this.#answer(records).catch((error: unknown) => this.#fail(error));
    }
  }

  async #answer(records: readonly Delivery[]): Promise<void> {
    const { bus, cluster, writeMs, onPlan, onApplied } = this.#options;
    const at = performance.now();
    const plans = records.map((record) => ({ record, plan: decodePlan(record) }));
    for (const { plan } of plans) onPlan(plan, at);
    await sleep(writeMs);
    for (const { record, plan } of plans) {
      if (!this.#isNew(plan)) continue;
      const applied = cluster.apply(plan);
      onApplied(plan, applied);
      const payload = encodeMessage(outcomeOf(plan, applied));
      const answer = { key: record.key, id: `${record.id}/outcome/1`, headers: {}, payload };
      this.appender.append(partitionOf(record.key, bus.partitions), answer);
    }
    this.#waiting -= records.length;
  }

  /** A redelivered plan: its Outcome is already published. */
  #isNew({ key, controller, plan }: PlannedMutations): boolean {
    const line = `${key.service} ${controller}`;
    const last = this.#done.get(line);
    if (last !== undefined && comparePlans(plan, last) <= 0) return false;
    this.#done.set(line, plan);
    return true;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }
}

function decodePlan({ payload }: Delivery): PlannedMutations {
  const message = decodeMessage(payload);
  if (message.kind !== 'mutations') throw new TypeError(`unexpected message kind ${message.kind} in mutations`);
  return message;
}

function outcomeOf(plan: PlannedMutations, { results }: Applied): Outcome {
  const { key, controller, causes, decidedAt } = plan;
  return {
    kind: 'outcome',
    key,
    controller,
    plan: plan.plan,
    status: 'applied',
    results,
    message: '',
    causes,
    decidedAt,
    completedAt: Date.now(),
    retries: 0,
  };
}
