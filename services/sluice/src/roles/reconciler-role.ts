import type { Tenure } from '@sluice/ownership';
import { type ReconcilerMetrics, type Settings, workPartition } from '@sluice/reconciler';
import { own, partitionScopes, type RoleOptions } from './role.ts';
import { setAside } from './set-aside.ts';

export interface ReconcilerRoleOptions extends RoleOptions {
  readonly settings: Settings;
  readonly metrics?: ReconcilerMetrics;
}

/** Reconciles this process's share of the partitions. */
export function runReconcilerRole(options: ReconcilerRoleOptions, signal: AbortSignal): Promise<void> {
  const scopes = partitionScopes(options.bus);
  return own(
    options,
    {
      group: 'reconciler',
      scopes,
      work: ({ scope, epoch, signal, isCurrent }: Tenure) => {
        const partition = Number(scope);
        const onDeadLetter = setAside(options, 'changes', partition);
        return workPartition({ ...options, partition, epoch, isCurrent, onDeadLetter }, signal);
      },
    },
    signal,
  );
}
