import type { Controller, EventToRecord } from '../plan.ts';

/** The controller that records an Event (section J). */
export function eventController({ reason, regarding }: Pick<EventToRecord, 'reason' | 'regarding'>): Controller {
  if (reason.endsWith('Endpoint')) return 'endpoints';
  return regarding.kind === 'Endpoints' ? 'endpointslicemirroring' : 'endpointslice';
}

const components: Readonly<Record<Controller, string>> = {
  endpoints: 'endpoint-controller',
  endpointslice: 'endpoint-slice-controller',
  endpointslicemirroring: 'endpoint-slice-mirroring-controller',
};

/** Returns the controller that upstream reports as the source of an Event (A1, section J). */
export function eventComponent(event: EventToRecord): string {
  return components[eventController(event)];
}
