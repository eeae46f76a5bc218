import type { EventToRecord } from '../plan.ts';

/** Returns the controller that upstream reports as the source of an Event (A1, section J). */
export function eventComponent({ reason, regarding }: EventToRecord): string {
  if (reason.endsWith('Endpoint')) return 'endpoint-controller';
  return regarding.kind === 'Endpoints' ? 'endpoint-slice-mirroring-controller' : 'endpoint-slice-controller';
}
