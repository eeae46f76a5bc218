import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Limit of the JavaScript heap of this process, in bytes. Node derives it from the machine's or container's memory. */
export const heapLimitBytes = (): number => getHeapStatistics().heap_size_limit;

/**
 * Has V8 count buffers as part of the heap when it decides when to collect garbage. It otherwise marks the whole heap after each
 * 64 MiB of new buffers, however large the heap is, and a process with many clusters allocates them all the time (ADR 0001). Set at run
 * time because Node does not accept the flag in NODE_OPTIONS, and an image starts all roles with the same command line.
 */
export function countBuffersAsHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
