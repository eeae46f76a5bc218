import { type AppendedOffsets, type BusRecord, MemoryBus, type Topic } from '@sluice/bus';
import type { History } from '../history/history.ts';
import type { RecordSink } from '../ports.ts';

/** A bus for watchers whose Changes nobody processes: they only become history. */
export class RecordingBus extends MemoryBus {
  readonly #history: History;
  readonly #recorder: RecordSink | undefined;

  /** Without a recorder, the history is in memory only. */
  constructor(history: History, recorder?: RecordSink) {
    super({ partitions: 1 });
    this.#history = history;
    this.#recorder = recorder;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    if (topic === 'requests') return super.append(topic, partition, records);
    for (const record of records) {
      this.#history.add(topic, partition, record);
      this.#recorder?.add(topic, record);
    }
    return undefined;
  }
}
