import { getHeapStatistics } from 'node:v8';

/** Limit of the JavaScript heap of this process, in bytes. Node derives it from the machine's or container's memory. */
export const heapLimitBytes = (): number => getHeapStatistics().heap_size_limit;
