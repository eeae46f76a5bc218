import { type Bus, isLogTruncatedError, readUntilAborted, type Topic } from '@sluice/bus';
import type { History } from '../history/history.ts';
import type { RecordSink } from '../ports.ts';
import { ingest } from './bus-follower.ts';

/** Reads all records that `changes` and `mutations` have now into the history. For logs to which nobody appends any more. */
export async function readLogs(bus: Bus, history: History, signal: AbortSignal): Promise<void> {
  for (let partition = 0; partition < bus.partitions && !signal.aborted; partition++) {
    // An Outcome is read after its plan: the history connects them by their ids.
    for (const topic of ['mutations', 'changes'] as const) await readLog(bus, topic, partition, history, signal);
  }
}

async function readLog(
  bus: Bus,
  topic: Topic,
  partition: number,
  history: History,
  signal: AbortSignal,
): Promise<void> {
  const [oldest, end] = await Promise.all([bus.beginning(topic, partition), bus.end(topic, partition)]);
  if (oldest.offset >= end.offset) return;
  try {
    const reader = bus.read(topic, partition, oldest);
    await readUntilAborted(reader, signal, (open) =>
      ingest(open, { history }, { topic, partition }, (offset) => offset >= end.offset),
    );
  } catch (error) {
    // Its records have expired meanwhile.
    if (!isLogTruncatedError(error)) throw error;
  }
}

/** Wraps a bus and adds each appended record to history and recording. For the in-memory bus, which drops processed records. */
export function tapBus(bus: Bus, history: Pick<History, 'add'> | undefined, recorder?: RecordSink): Bus {
  return {
    partitions: bus.partitions,
    get limits() {
      return bus.limits;
    },
    append(topic, partition, records) {
      // The order of the calls is the order of the log.
      const appended = bus.append(topic, partition, records);
      for (const record of records) {
        history?.add(topic, partition, record);
        recorder?.add(topic, record);
      }
      return appended;
    },
    read: (topic, partition, after) => bus.read(topic, partition, after),
    beginning: (topic, partition) => bus.beginning(topic, partition),
    end: (topic, partition) => bus.end(topic, partition),
    close: () => bus.close(),
  };
}
