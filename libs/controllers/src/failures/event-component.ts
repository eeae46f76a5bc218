import type { EventToRecord } from '../plan.ts';

/** The controller in whose name upstream records an event (A1, section J). */
export function eventComponent({ reason, regarding }: EventToRecord): string {
  if (reason.endsWith('Endpoint')) return 'endpoint-controller';
  return regarding.kind === 'Endpoints' ? 'endpoint-slice-mirroring-controller' : 'endpoint-slice-controller';
}
