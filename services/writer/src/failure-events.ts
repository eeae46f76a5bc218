import { type EventToRecord, endpointSliceFailure, endpointsFailure } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Failure } from './apply-plan.ts';

/** The Events that upstream records for a plan that failed, or could not be complete (section J). Mirroring has none. */
export function failureEvents(plan: PlannedMutations, failures: readonly Failure[]): readonly EventToRecord[] {
  const { namespace, service: name } = plan.key;
  const service = { namespace, name, uid: plan.serviceUid };
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
