import type { Controller, EventToRecord, WrittenResource } from '@sluice/model';
import type { ControllerDescriptor, ReadResource } from './controller.ts';
import { endpointsController } from './endpoints/controller.ts';
import { endpointSlicesController } from './endpointslice/controller.ts';
import { mirroringController } from './endpointslicemirroring/controller.ts';

const descriptors = new Map<Controller, ControllerDescriptor>();
const byManager = new Map<string, Controller>();
const names: Controller[] = [];
const ordered: Controller[] = [];
const ofSlices: Controller[] = [];
const nameSet = new Set<Controller>();
const readers = new Map<ReadResource, readonly Controller[]>();
const none: readonly Controller[] = [];

/** All registered controllers. Each decides independently and can be disabled. */
export const controllers: readonly Controller[] = names;
/** The same, as a set. */
export const allControllers: ReadonlySet<Controller> = nameSet;
/** All controllers in the order in which they decide. Slices first: traffic follows them. */
export const decisionOrder: readonly Controller[] = ordered;
/** The controllers that write slices. */
export const sliceControllers: readonly Controller[] = ofSlices;
/** The controller that writes Endpoints. A Service has only one such object, so there is only one. */
export const endpointsWriter: Controller = endpointsController.name;

/**
 * Adds a controller. Returns the reverse, for tests.
 *
 * @throws Error if another one has the same name, flag or `managed-by`, or writes Endpoints too
 */
export function register(descriptor: ControllerDescriptor): () => void {
  const known = [...descriptors.values()];
  const taken = (values: (one: ControllerDescriptor) => readonly string[]) =>
    known.some((one) => values(one).some((value) => values(descriptor).includes(value)));
  if ([taken(({ name }) => [name]), taken(({ managedBy }) => [managedBy]), taken(({ flags }) => flags)].includes(true))
    throw new Error(`controller ${descriptor.name}: its name, managed-by or a flag is taken`);
  if (descriptor.writes === 'endpoints' && descriptor.name !== endpointsWriter)
    throw new Error(`controller ${descriptor.name}: ${endpointsWriter} writes Endpoints already`);
  descriptors.set(descriptor.name, descriptor);
  index();
  return () => {
    descriptors.delete(descriptor.name);
    index();
  };
}

function index(): void {
  const all = [...descriptors.values()];
  const writersOf = (resource: WrittenResource) => all.filter(({ writes }) => writes === resource);
  const [slices, endpoints] = [writersOf('endpointslices'), writersOf('endpoints')];
  const namesOf = (some: readonly ControllerDescriptor[]) => some.map(({ name }) => name);
  names.splice(0, names.length, ...namesOf(all));
  ordered.splice(0, ordered.length, ...namesOf([...slices, ...endpoints]));
  ofSlices.splice(0, ofSlices.length, ...namesOf(slices));
  nameSet.clear();
  for (const name of names) nameSet.add(name);
  readers.clear();
  for (const resource of new Set(all.flatMap(({ reads }) => reads)))
    readers.set(resource, namesOf(all.filter(({ reads }) => reads.includes(resource))));
  byManager.clear();
  for (const { managedBy, name } of all) byManager.set(managedBy, name);
}

/** Add a controller here. Order: of flags and metrics. */
const registered = [endpointsController, endpointSlicesController, mirroringController];

export const reads = (controller: Controller, resource: ReadResource): boolean =>
  readersOf(resource).includes(controller);

for (const descriptor of registered) register(descriptor);

/** @throws Error if there is no such controller */
export function descriptorOf(controller: Controller): ControllerDescriptor {
  const descriptor = descriptors.get(controller);
  if (descriptor === undefined) throw new Error(`controller ${controller} is not registered`);
  return descriptor;
}

export const isController = (name: string): boolean => descriptors.has(name);

/** The controller that writes objects with this `managed-by`; undefined: none of ours. */
export const controllerManaging = (managedBy: string | undefined): Controller | undefined =>
  managedBy === undefined ? undefined : byManager.get(managedBy);

export const readersOf = (resource: ReadResource): readonly Controller[] => readers.get(resource) ?? none;

/** What watchers watch for these controllers: all that one of them reads or writes. */
export function resourcesOf(enabled: Iterable<Controller>): ReadonlySet<ReadResource | WrittenResource> {
  return new Set([...enabled].map(descriptorOf).flatMap((one) => [...one.reads, one.writes]));
}

/** The controller that records an Event (section J). Events of Sluice's own are those of the first one that writes slices. */
export function eventController({ reason }: Pick<EventToRecord, 'reason'>): Controller {
  const owner = controllers.find((controller) => descriptorOf(controller).events.reasons.includes(reason));
  return owner ?? sliceControllers[0] ?? '';
}

/** Returns the controller that upstream reports as the source of an Event (A1, section J). */
export const eventComponent = (event: EventToRecord): string => descriptorOf(eventController(event)).events.component;
