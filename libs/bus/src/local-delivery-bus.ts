import { type Cancel, type Clock, type Random, untilTick } from '@sluice/platform';
import type { AppendedOffsets, Bus, BusRecord, PartitionReader, StreamOffset, Topic } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import { LingeringRecords } from './lingering-records.ts';
import { LocalChanges } from './local-changes.ts';
import { LocalPlans } from './local-plans.ts';

/**
 * Records that are delivered within the process are appended once in this time, in milliseconds, at an offset that lets the log
 * return them before the reconcilers' commits at multiples of 500 ms, which then cover them.
 */
const linger = { intervalMs: 250, offsetMs: 190 };

interface LocalPartition {
  readonly plans: LocalPlans;
  readonly changes: LocalChanges;
  readonly lingering: readonly LingeringRecords[];
}

/**
 * A bus that delivers records within this process instead of reading them from the log (ADR 0070):
 *
 * - plans while the log stores them, in partitions of `mutations` that this process reads, and of which it is the only producer,
 *   if it starts at the end of the log, and otherwise from the first plan that it has read back;
 * - records passed to `deliver` before the log stores them, all partitions at one moment. A record of `changes` comes from the
 *   log once more.
 */
export class LocalDeliveryBus extends ForwardingBus {
  readonly #ports: { readonly clock: Clock; readonly random: Random };
  readonly #partitions = new Map<number, LocalPartition>();
  /** Cancels the next flush. */
  #cancel: Cancel | undefined;

  constructor(inner: Bus, ports: { readonly clock: Clock; readonly random: Random }) {
    super(inner);
    this.#ports = ports;
  }

  override append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    if (topic === 'requests') return this.inner.append(topic, partition, records);
    const { plans, changes } = this.#partition(partition);
    return topic === 'mutations' ? plans.append(records, this.limits.recordBytes) : changes.append(records);
  }

  override deliver(
    topic: Topic,
    partition: number,
    records: readonly BusRecord[],
    assertCurrent: () => void = () => {},
  ): Promise<AppendedOffsets> | undefined {
    if (topic === 'requests' || !this.connected) return undefined;
    const { plans, changes } = this.#partition(partition);
    const stored =
      topic === 'mutations'
        ? plans.deliver(records, this.limits.recordBytes, assertCurrent)
        : changes.deliver(records, this.limits.messageBytes, assertCurrent);
    if (stored === undefined) return undefined;
    // A caller may await the result later.
    stored.catch(() => {});
    const { clock } = this.#ports;
    this.#cancel ??= clock.schedule(untilTick(clock, linger.intervalMs, linger.offsetMs), () => this.flush());
    return stored;
  }

  override flush(partition?: number): void {
    if (partition !== undefined) return void this.#partitions.get(partition)?.changes.flush();
    this.#cancel?.();
    this.#cancel = undefined;
    for (const { changes, lingering } of this.#partitions.values()) {
      if (lingering.some(({ isWaiting }) => isWaiting)) void changes.flush();
    }
  }

  override produceExclusively(topic: Topic, partition: number): () => void {
    const leave = super.produceExclusively(topic, partition);
    if (topic !== 'mutations') return leave;
    const stop = this.#partition(partition).plans.produce();
    return () => {
      stop();
      leave();
    };
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const open = (from: StreamOffset) => this.inner.read(topic, partition, from);
    if (topic === 'requests') return open(after);
    const { plans, changes } = this.#partition(partition);
    return topic === 'mutations' ? plans.read(open, after) : changes.read(open, after);
  }

  override end(topic: Topic, partition: number): Promise<StreamOffset> {
    const read = () => this.inner.end(topic, partition);
    return topic === 'mutations' ? this.#partition(partition).plans.end(read) : read();
  }

  override close(): Promise<void> {
    this.flush();
    return super.close();
  }

  #partition(partition: number): LocalPartition {
    let local = this.#partitions.get(partition);
    if (local === undefined) {
      local = this.#openPartition(partition);
      this.#partitions.set(partition, local);
    }
    return local;
  }

  #openPartition(partition: number): LocalPartition {
    const append = (topic: Topic) => (records: readonly BusRecord[]) => this.inner.append(topic, partition, records);
    const lingering = (topic: Topic) => new LingeringRecords({ append: append(topic), ...this.#ports });
    const [lingeringPlans, lingeringChanges] = [lingering('mutations'), lingering('changes')];
    const plans = new LocalPlans({ lingering: lingeringPlans, append: append('mutations') });
    const changes = new LocalChanges({
      lingering: lingeringChanges,
      append: append('changes'),
      flushPlans: () => plans.flush(),
    });
    return { plans, changes, lingering: [lingeringPlans, lingeringChanges] };
  }
}
