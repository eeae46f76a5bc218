import { GCProfiler, type GCProfilerResult, getHeapStatistics } from 'node:v8';

/** Bytes that this thread allocates on V8's heap while `work` runs. What other work of the thread allocates meanwhile counts too. */
export async function allocatedBytes(work: () => Promise<void>): Promise<number> {
  const profiler = new GCProfiler();
  profiler.start();
  let last = usedBytes();
  await work();
  const end = usedBytes();
  const { statistics } = profiler.stop() as GCProfilerResult;
  let sum = 0;
  for (const { beforeGC, afterGC } of statistics) {
    sum += beforeGC.heapStatistics.usedHeapSize - last;
    last = afterGC.heapStatistics.usedHeapSize;
  }
  return sum + end - last;
}

const usedBytes = () => getHeapStatistics().used_heap_size;
