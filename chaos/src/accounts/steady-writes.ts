import { isDone } from './ledger.ts';
import type { Violation } from './violation.ts';
import type { Write } from './write.ts';

/** Services that nobody means ill: their Pods come and stay, and some never cease to be ready. */
export interface SteadyExpectation {
  readonly namespace: string;
  /** By name of the Service, the Pods that are ready all the time. */
  readonly rocks: ReadonlyMap<string, readonly string[]>;
  /** Since when every one of them has been written, in milliseconds since the Unix epoch. */
  readonly settledAt: number;
  /**
   * When the store forgot everything. A plan that was on its way may then be carried out beside the one that is decided
   * afresh, and slices that are there twice are tidied up.
   */
  readonly wipes: readonly number[];
  /** For how long after a wipe. */
  readonly tidyingMs: number;
}

/** Slices that are made or deleted without need, and writes that leave out an endpoint that was never in doubt. */
export function checkSteady(writes: readonly Write[], expected: SteadyExpectation): readonly Violation[] {
  const { namespace, rocks, settledAt, wipes, tidyingMs } = expected;
  const tidying = (at: number) => wipes.some((wipe) => at >= wipe && at < wipe + tidyingMs);
  const own = writes.filter((write) => write.namespace === namespace && write.receivedAt > settledAt && isDone(write));
  return own.flatMap((write): Violation[] => {
    const { verb, resource, name, ready, receivedAt, auditId } = write;
    const where = `${resource} ${namespace}/${name}`;
    const when = `at ${new Date(receivedAt).toISOString()} (audit ${auditId})`;
    if (verb !== 'update' && !(resource === 'endpointslices' && tidying(receivedAt))) {
      return [{ what: 'needless slice', where, evidence: `${verb} ${when}, of a Service that only has Pods flip` }];
    }
    if (verb === 'delete') return [];
    const service = resource === 'endpoints' ? name : serviceOf(name);
    const missing = (rocks.get(service) ?? []).filter((pod) => !ready.includes(pod));
    if (missing.length === 0) return [];
    const evidence = `${verb} ${when} without ${missing.join(', ')}, ready all the time`;
    return [{ what: 'wanted endpoint taken away', where, evidence }];
  });
}

/** Of a slice with a generated name. */
const serviceOf = (slice: string): string => slice.slice(0, slice.lastIndexOf('-'));
