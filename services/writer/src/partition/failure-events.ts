import {
  aggregateText,
  cleanUpFailureText,
  type EventToRecord,
  endpointSliceFailure,
  endpointsFailure,
  mirroringFailureText,
} from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { heldBackReasons } from '../confirmation/confirm-changes.ts';

/**
 * Returns the Events that upstream records for a plan that failed or is incomplete (section J; mirroring records none),
 * and an Event of Sluice's own for a change that was held back.
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
  switch (plan.controller) {
    case 'endpoints':
      return failures.flatMap((failure) => endpointsFailure(service, failure) ?? []);
    case 'endpointslice': {
      const event = endpointSliceFailure(service, failures, plan.incomplete);
      return event === null ? [] : [event];
    }
    case 'endpointslicemirroring':
      return [];
  }
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
  if (plan.controller !== 'endpointslicemirroring') {
    return failureEvents(plan, { failures })
      .map(({ message }) => message)
      .join('; ');
  }
  const { namespace, service: name } = plan.key;
  // Only a clean-up has several groups: one per slice.
  if (plan.groups.length > 1) {
    const messages = failures.map(({ message }) => message);
    return cleanUpFailureText({ namespace, name }, messages, plan.groups.length);
  }
  return aggregateText(failures.map((failure) => mirroringFailureText({ namespace, name }, failure))) ?? '';
}
