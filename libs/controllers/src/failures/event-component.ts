import type { Controller, EventToRecord } from '@sluice/model';
import { controllers, descriptorOf, sliceControllers } from '../registry.ts';

/** The controller that records an Event (section J). Events of Sluice's own are those of the first one that writes slices. */
export function eventController({ reason }: Pick<EventToRecord, 'reason'>): Controller {
  const owner = controllers.find((controller) => descriptorOf(controller).events.reasons.includes(reason));
  return owner ?? sliceControllers[0] ?? '';
}

/** Returns the controller that upstream reports as the source of an Event (A1, section J). */
export const eventComponent = (event: EventToRecord): string => descriptorOf(eventController(event)).events.component;
