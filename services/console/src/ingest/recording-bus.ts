import { type AppendedOffsets, type BusRecord, MemoryBus, type Topic } from '@sluice/bus';
import type { History } from '../history/history.ts';

/** A bus for watchers whose Changes nobody processes: they only become history. */
export class RecordingBus extends MemoryBus {
  readonly #history: History;

  constructor(history: History) {
    super({ partitions: 1 });
    this.#history = history;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    if (topic === 'requests') return super.append(topic, partition, records);
    for (const record of records) this.#history.add(topic, partition, record);
    return undefined;
  }
}
