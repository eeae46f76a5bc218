import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, type BusRecord, type PartitionReader, streamStart } from '@sluice/bus';
import type { BusUnderMeasure, StartBus } from './bus-servers.ts';
import { percentile, reliablePercentile } from './statistics.ts';

export interface BusLoad {
  readonly partitions: number;
  readonly payloadBytes: number;
  /** For latency: single records per second, spread over the partitions. */
  readonly rate: number;
  readonly seconds: number;
  /** For throughput: records in total, and per call. */
  readonly records: number;
  readonly callSize: number;
}

export interface BusFigures {
  /** Time until the bus is usable: with the topics created first, and with existing topics. */
  readonly firstConnectMs: number;
  readonly connectMs: number;
  /** From just before the append until a reader on another connection receives the record. */
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  /** Until all records are acknowledged, and until all are read. */
  readonly appendedPerSecond: number;
  readonly readPerSecond: number;
}

/** One round on new servers. */
export async function measureBus(start: StartBus, load: BusLoad): Promise<BusFigures> {
  const servers = await start(load.partitions);
  try {
    const [publisher, firstConnectMs] = await timed(() => servers.connect());
    const [consumer, connectMs] = await timed(() => servers.connect());
    const latencies = await measureLatency(publisher, consumer, load);
    const throughput = await measureThroughput(publisher, consumer, load);
    await publisher.close();
    await consumer.close();
    return {
      firstConnectMs,
      connectMs,
      latencyP50Ms: percentile(latencies, 0.5),
      latencyP99Ms: reliablePercentile(latencies, 0.99),
      ...throughput,
    };
  } finally {
    await (servers satisfies BusUnderMeasure).stop();
  }
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  return [await run(), performance.now() - started];
}

/** Open loop: each record is sent at its planned time, whether or not earlier ones are acknowledged. */
async function measureLatency(publisher: Bus, consumer: Bus, load: BusLoad): Promise<readonly number[]> {
  const count = load.rate * load.seconds;
  const sentAt = new Float64Array(count);
  const latencies: number[] = [];
  const all = readAll(consumer, 'changes', load.partitions, count, (id) => {
    latencies.push(performance.now() - (sentAt[Number(id.slice(1))] ?? 0));
  });
  const tails = new Array<Promise<unknown>>(load.partitions).fill(Promise.resolve());
  const started = performance.now();
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - started) / 1000) * load.rate));
    for (; sent < due; sent++) {
      const [number, partition] = [sent, sent % load.partitions];
      // The port requires sequential calls per partition.
      tails[partition] = (tails[partition] ?? Promise.resolve()).then(() => {
        sentAt[number] = performance.now();
        return publisher.append('changes', partition, [record(`l${number}`, load.payloadBytes)]);
      });
    }
    await sleep(1);
  }
  await Promise.all(tails);
  await all;
  return latencies;
}

async function measureThroughput(publisher: Bus, consumer: Bus, load: BusLoad) {
  const perPartition = Math.ceil(load.records / load.partitions / load.callSize) * load.callSize;
  const count = perPartition * load.partitions;
  const started = performance.now();
  const rate = () => count / ((performance.now() - started) / 1000);
  const read = readAll(consumer, 'mutations', load.partitions, count, () => {}).then(rate);
  const appended = Promise.all(
    Array.from({ length: load.partitions }, async (_, partition) => {
      for (let from = 0; from < perPartition; from += load.callSize) {
        const call = Array.from({ length: load.callSize }, (_, i) =>
          record(`t${partition}-${from + i}`, load.payloadBytes),
        );
        await publisher.append('mutations', partition, call);
      }
    }),
  ).then(rate);
  const [appendedPerSecond, readPerSecond] = await Promise.all([appended, read]);
  return { appendedPerSecond, readPerSecond };
}

/** Reads all partitions until this many records have arrived. */
async function readAll(
  bus: Bus,
  topic: 'changes' | 'mutations',
  partitions: number,
  count: number,
  onRecord: (id: string) => void,
): Promise<void> {
  let left = count;
  const readers = Array.from({ length: partitions }, (_, partition) => bus.read(topic, partition, streamStart));
  const close = () => {
    for (const reader of readers) reader.close();
  };
  await Promise.all(
    readers.map(async (reader: PartitionReader) => {
      for (;;) {
        const records = await reader.next(256);
        if (records.length === 0) return;
        for (const { id } of records) onRecord(id);
        reader.release(records.at(-1)?.offset ?? 0);
        left -= records.length;
        if (left === 0) close();
      }
    }),
  );
}

function record(id: string, size: number): BusRecord {
  return { key: 'cluster/namespace/service', id, headers: {}, payload: new Uint8Array(size) };
}
