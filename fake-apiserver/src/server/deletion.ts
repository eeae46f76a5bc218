import { asRecord } from '@sluice/platform';
import type { StoredObject } from './object.ts';
import type { ResourceInfo } from './resources.ts';
import { conflict } from './status.ts';

export interface DeleteOptions {
  /** Preconditions. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Applies to Pods only; 0 deletes at once. */
  readonly gracePeriodSeconds?: number;
}

export function checkPreconditions(info: ResourceInfo, object: StoredObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = object.metadata;
  if (options.uid !== undefined && options.uid !== uid)
    throw conflict(
      info,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). ` +
        'The object might have been deleted and then recreated',
      'kind',
    );
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion)
    throw conflict(
      info,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in ` +
        `record (${resourceVersion}). The object might have been modified`,
      'kind',
    );
}

/** Grace period in seconds; 0 if the object can be removed at once. */
export function gracePeriod(object: StoredObject, options: DeleteOptions): number {
  const spec = asRecord(object.spec);
  const phase = asRecord(object.status).phase;
  if (spec.nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0;
  const own = spec.terminationGracePeriodSeconds;
  const asked = Math.max(0, options.gracePeriodSeconds ?? (typeof own === 'number' ? own : 30));
  const pending = object.metadata.deletionGracePeriodSeconds;
  return pending === undefined ? asked : Math.min(asked, pending);
}
