import { isAccepted } from './audit-matcher.ts';
import type { Violation } from './violation.ts';
import type { Write } from './write.ts';

/** Services without disruptive changes: no Pod is added or removed, and some Pods are always ready. */
export interface SteadyExpectation {
  readonly namespace: string;
  /** Pods that are always ready, keyed by Service name. */
  readonly alwaysReady: ReadonlyMap<string, readonly string[]>;
  /** All Pods of these Services in this cluster. */
  readonly pods: ReadonlySet<string>;
  /** Time since which all of them have been written, in milliseconds since the Unix epoch. */
  readonly convergedAt: number;
  /**
   * Times at which the store lost everything. A plan in flight may then be applied next to a newly decided one, and
   * duplicate slices are cleaned up.
   */
  readonly wipes: readonly number[];
  /** Time allowed for the clean-up. */
  readonly cleanUpMs: number;
}

/**
 * Reports slices that are created or deleted without need, writes with endpoints of another cluster, and writes that lack an
 * endpoint that is always ready.
 */
export function checkSteadyWrites(writes: readonly Write[], expected: SteadyExpectation): readonly Violation[] {
  const { namespace, alwaysReady, pods, convergedAt, wipes, cleanUpMs } = expected;
  const isCleaningUp = (at: number) => wipes.some((wipe) => at >= wipe && at < wipe + cleanUpMs);
  const own = writes.filter(
    (write) => write.namespace === namespace && write.receivedAt > convergedAt && isAccepted(write),
  );
  return own.flatMap((write): Violation[] => {
    const { verb, resource, name, ready, receivedAt, auditId } = write;
    const where = `${resource} ${namespace}/${name}`;
    const when = `at ${new Date(receivedAt).toISOString()} (audit ${auditId})`;
    const foreign = ready.filter((pod) => !pods.has(pod));
    if (foreign.length > 0) {
      return [{ what: 'crossed clusters', where, evidence: `${verb} ${when} with ${foreign.join(', ')}` }];
    }
    if (verb !== 'update' && !(resource === 'endpointslices' && isCleaningUp(receivedAt))) {
      return [
        {
          what: 'needless slice write',
          where,
          evidence: `${verb} ${when}, although only the readiness of Pods changes`,
        },
      ];
    }
    if (verb === 'delete') return [];
    const service = resource === 'endpoints' ? name : serviceOf(name);
    const missing = (alwaysReady.get(service) ?? []).filter((pod) => !ready.includes(pod));
    if (missing.length === 0) return [];
    const evidence = `${verb} ${when} without ${missing.join(', ')}, which are always ready`;
    return [{ what: 'endpoint wrongly removed', where, evidence }];
  });
}

/** The Service of a slice with a generated name. */
const serviceOf = (slice: string): string => slice.slice(0, slice.lastIndexOf('-'));
