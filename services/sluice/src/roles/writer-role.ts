import type { Tenure } from '@sluice/ownership';
import { defaultRetry, type LaneWorkerOptions, type RetryOptions, workLane } from '@sluice/writer';
import { own, partitionScopes, type RoleOptions } from './role.ts';
import { setAside } from './set-aside.ts';

export interface WriterRoleOptions extends RoleOptions, Pick<LaneWorkerOptions, 'cluster' | 'onOutcome'> {
  readonly retry?: RetryOptions;
  /** Aborts requests that are under way; until then a lane that is handed over waits for them. */
  readonly requests: AbortSignal;
}

/** Applies the plans of this process's share of the lanes. */
export function runWriterRole(options: WriterRoleOptions, signal: AbortSignal): Promise<void> {
  const { retry = defaultRetry } = options;
  return own(
    options,
    {
      group: 'writer',
      scopes: partitionScopes(options.bus),
      work: ({ scope, epoch, signal, isCurrent }: Tenure) => {
        const partition = Number(scope);
        const onDeadLetter = setAside(options, 'mutations', partition);
        return workLane({ ...options, retry, partition, epoch, isCurrent, onDeadLetter }, signal);
      },
    },
    signal,
  );
}
