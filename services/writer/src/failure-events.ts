import {
  aggregateText,
  cleanUpFailureText,
  type EventToRecord,
  endpointSliceFailure,
  endpointsFailure,
  mirroringFailureText,
} from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Application } from './apply-plan.ts';
import { heldBackReason } from './confirm-removal.ts';

/**
 * The Events that upstream records for a plan that failed, or could not be complete (section J; mirroring has none), and one
 * for a plan that was held back.
 */
export function failureEvents(
  plan: PlannedMutations,
  { failures, message }: Pick<Application, 'failures' | 'message'>,
): readonly EventToRecord[] {
  const { namespace, service: name } = plan.key;
  const service = { namespace, name, uid: plan.serviceUid };
  if (message?.startsWith(heldBackReason)) return [removalHeldBack(service, message)];
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

/** Sluice's own: upstream removes whatever its caches lack. */
function removalHeldBack(service: { namespace: string; name: string; uid: string }, message: string): EventToRecord {
  const { namespace, name, uid } = service;
  const regarding = { kind: 'Service', namespace, name, ...(uid !== '' && { uid }) } as const;
  return { type: 'Warning', reason: 'EndpointRemovalHeldBack', message, regarding };
}

/** What is logged of a plan that failed: upstream's words, which say what was to be written (E28, H7, H20, section J). */
export function failureText(plan: PlannedMutations, { failures }: Pick<Application, 'failures'>): string {
  if (plan.controller !== 'endpointslicemirroring') {
    return failureEvents(plan, { failures })
      .map(({ message }) => message)
      .join('; ');
  }
  const { namespace, service: name } = plan.key;
  // Only a clean-up has groups, one for each slice.
  if (plan.groups.length > 1) {
    const messages = failures.map(({ message }) => message);
    return cleanUpFailureText({ namespace, name }, messages, plan.groups.length);
  }
  return aggregateText(failures.map((failure) => mirroringFailureText({ namespace, name }, failure))) ?? '';
}
