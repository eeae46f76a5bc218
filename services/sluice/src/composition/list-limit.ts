import { heapLimitBytes } from '@sluice/process';

/** Memory that the lists of one cluster may take: what it leaves must suffice for the rest of the process. */
export const maxListBytes = (): number => heapLimitBytes() / 2;
