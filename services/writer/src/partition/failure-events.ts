import { descriptorOf, type EventToRecord, type FailedPlan } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { heldBackReasons } from '../confirmation/confirm-changes.ts';

/**
 * Returns the Events of a plan's controller for a plan that failed or is incomplete, as upstream does (section J), and an Event of Sluice's own for a change that was held back.
 */
export function failureEvents(
  plan: PlannedMutations,
  { failures, message }: Pick<ApplyResult, 'failures' | 'message'>,
): readonly EventToRecord[] {
  const { namespace, service: name } = plan.key;
  const service = { namespace, name, uid: plan.serviceUid };
  if (message !== undefined)
    for (const [change, reason] of Object.entries(heldBackReasons))
      if (message.startsWith(reason)) return [heldBack(service, eventReasons[change as HeldBackChange], message)];
  return descriptorOf(plan.controller).events.failed?.(failedPlan(plan, failures)) ?? [];
}

function failedPlan(plan: PlannedMutations, failures: ApplyResult['failures']): FailedPlan {
  const { namespace, service: name } = plan.key;
  return {
    service: { namespace, name, uid: plan.serviceUid },
    failures,
    incomplete: plan.incomplete,
    groups: plan.groups,
  };
}

type HeldBackChange = keyof typeof heldBackReasons;
const eventReasons = { removal: 'EndpointRemovalHeldBack', addition: 'EndpointAdditionHeldBack' } as const;

/** Has no upstream counterpart: upstream writes what its caches contain. */
function heldBack(
  service: { namespace: string; name: string; uid: string },
  reason: string,
  message: string,
): EventToRecord {
  const { namespace, name, uid } = service;
  const regarding = { kind: 'Service', namespace, name, ...(uid !== '' && { uid }) } as const;
  return { type: 'Warning', reason, message, regarding };
}

/** The log text for a failed plan, worded as upstream does (E28, H7, H20, section J). */
export function failureText(plan: PlannedMutations, { failures }: Pick<ApplyResult, 'failures'>): string {
  const own = descriptorOf(plan.controller).events.failureText?.(failedPlan(plan, failures));
  if (own !== undefined) return own;
  return failureEvents(plan, { failures })
    .map(({ message }) => message)
    .join('; ');
}
