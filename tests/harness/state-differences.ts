import { decisionOrder } from '@sluice/controllers';
import type { ControllerState, ServiceMessage, ServiceState } from '@sluice/service-state';

/** What is known of a log besides its records. */
export interface Undetermined {
  /** The Service was gone at a time. */
  readonly wasGone: boolean;
  /** Workers applied their own records before the log had them. */
  readonly isWorker: boolean;
}

/** How a stored state differs from the one that its log gives, in what the log determines. */
export function stateDifferences(
  stored: ServiceState,
  replayed: ServiceState,
  undetermined: Undetermined,
): readonly string[] {
  return differences(contentOf(stored, undetermined), contentOf(replayed, undetermined));
}

/** Whether a Change says that the Service is gone. */
export function isDeletion(message: ServiceMessage): boolean {
  if (message.kind !== 'change') return false;
  const services = message.facts.flatMap((fact) => (fact.kind === 'service' ? [fact.service] : []));
  return services.includes(null) || (message.snapshot?.first === true && services.length === 0);
}

/**
 * What the log determines. Not determined are deadlines and the pace of repairs, which follow from times of arrival, and:
 *
 * - what is remembered of a Service that was gone: its state is dropped with the next commit;
 * - foreign writes that a worker has noticed, and the generations from which it notices them: it applies its own records before
 *   the log has them, perhaps in another order;
 * - trigger times of a Service without a selector: the last decision before has set them, and the log has only decisions with a plan.
 */
function contentOf(state: ServiceState, { wasGone, isWorker }: Undetermined): Readonly<Record<string, unknown>> {
  const { endpoints, topology, snapshot, orphaned, tombstones } = state;
  const service = state.service?.service ?? null;
  const content: Record<string, unknown> = { service, endpoints, topology, snapshot, orphaned };
  if (!wasGone) content.tombstones = tombstones.map(({ uid }) => uid).sort();
  for (const [name, entry] of state.pods) content[`pod ${name}`] = entry;
  for (const [name, entry] of state.slices) content[`slice ${name}`] = entry;
  for (const controller of decisionOrder) {
    const of = state.controller(controller);
    const { trackers, requests, unconfirmedCreates, ...rest } = determined(of);
    const { triggers, tracked, ...counted } = trackers;
    const fields = {
      ...rest,
      ...requests,
      ...counted,
      ...(service?.selector && { triggers }),
      ...(!wasGone && { unconfirmedCreates }),
      ...(!isWorker && { tracked }),
      ...(!wasGone && !isWorker && { foreignWrites: of.repairs.foreignWrites?.count }),
    };
    for (const [field, value] of Object.entries(fields)) content[`${controller} ${field}`] = value;
  }
  return content;
}

/** Without times, and the pace of repairs. */
function determined({ retries, repairs, inFlight, timers, ...rest }: ControllerState) {
  const { redeliverAt, redeliveries, trace, ...plan } = inFlight ?? {};
  const { failures, retryAfterMs, parked } = retries;
  return { ...rest, failures, retryAfterMs, parked, repairing: repairs.repairing, inFlight: plan };
}

function differences(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => {
    const [left, right] = [canonical(a[name]), canonical(b[name])];
    return left === right ? [] : [`${name} is stored as ${left}, replayed as ${right}`];
  });
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)))
      : inner,
  ) ?? 'absent';
