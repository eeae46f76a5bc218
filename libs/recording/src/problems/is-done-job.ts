import type { Pod } from '@sluice/model';

/** Whether the Pod of a Job has ended, so that nothing replaces it. */
export const isDoneJob = ({ terminal, details }: Pod): boolean =>
  terminal && details?.owner.startsWith('Job ') === true;
