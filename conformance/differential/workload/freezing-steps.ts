import {
  canonical,
  isObject,
  type JsonObject,
  listAt,
  managedByLabel,
  normalise,
  objectAt,
  serviceNameLabel,
  textAt,
} from '@sluice/shadow';
import { reference } from '../objects.ts';
import type { Rest, Side } from '../pair.ts';
import { meddleWithEndpoints } from './endpoints-steps.ts';
import { deleteService, toggleExternal, toggleSelector } from './service-steps.ts';
import { type Step, step, type World, type WorldService } from './world.ts';

export interface FreezingStep extends Step {
  /** The Service concerned: at most one such step a round for each. */
  readonly service: string;
  /** Another one that it concerns as well. */
  readonly otherService?: string;
  /** The genuine controllers find out of this only when they start anew (C21). */
  readonly needsRestart: boolean;
}

/**
 * A step whose outcome depends on what has been written before: of a Service that goes, the slices stay as they are, and
 * an edit by hand needs the same slice on both sides. Such steps are taken at rest only.
 */
export function freezingStep(world: World, rest: Rest, taken: ReadonlySet<string>): FreezingStep | undefined {
  switch (world.integer(1, 14)) {
    case 1:
      return ofService(world, taken, deleteService);
    case 2:
    case 3:
      return ofService(world, taken, toggleSelector);
    case 4:
      return ofService(world, taken, toggleExternal);
    case 5:
    case 6:
      return ofService(world, taken, meddleWithEndpoints);
    case 7:
      return collectGarbage(world, rest, taken);
    default:
      return editSlice(world, rest, taken);
  }
}

function ofService(
  world: World,
  taken: ReadonlySet<string>,
  make: (world: World, service: WorldService) => Step | undefined,
): FreezingStep | undefined {
  const service = world.pick([...world.services.values()].filter(({ name }) => !taken.has(name)));
  const made = service && make(world, service);
  return made && { ...made, service: service.name, needsRestart: false };
}

/** What the garbage collector would do: there is none in these clusters. */
function collectGarbage(world: World, rest: Rest, taken: ReadonlySet<string>): FreezingStep | undefined {
  const slices = rest.genuine.endpointslices.filter((slice) => !isUserSlice(world, slice) && inWorld(world, slice));
  const gone = [...new Set(slices.map(serviceOf))].filter((name) => !world.services.has(name) && !taken.has(name));
  const service = world.pick(gone.sort());
  if (service === undefined) return undefined;
  const collect = step(`slices of ${service} collected`, async (client) => {
    for (const slice of await client.list('endpointslices')) {
      if (!inWorld(world, slice) || isUserSlice(world, slice) || serviceOf(slice) !== service) continue;
      await client.delete(sliceReference(world, slice));
    }
  });
  return { ...collect, service, needsRestart: false };
}

/** Finds a slice that is the same on both sides, and edits or deletes it there. */
function editSlice(world: World, rest: Rest, taken: ReadonlySet<string>): FreezingStep | undefined {
  const pairs = counterparts(world, rest).filter(({ genuine }) => !taken.has(serviceOf(genuine)));
  const chosen = world.pick(pairs);
  if (chosen === undefined) return undefined;
  const edit = chooseEdit(world, chosen.genuine);
  const request = async (side: Side, client: Parameters<Step['requests'][number]>[0]) => {
    const slice = chosen[side];
    const where = sliceReference(world, slice);
    const change = edit.change(slice);
    if (change === 'delete') await client.delete(where);
    else await client.patch(where, change);
  };
  const service = serviceOf(chosen.genuine);
  const { otherService } = edit;
  if (otherService !== undefined && taken.has(otherService)) return undefined;
  const made = step(`slice of ${service} by hand: ${edit.what}`, (client, side) => request(side, client));
  return {
    ...made,
    service,
    ...(otherService !== undefined && { otherService }),
    needsRestart: edit.needsRestart ?? false,
  };
}

interface Edit {
  readonly what: string;
  readonly change: (slice: JsonObject) => JsonObject | 'delete';
  readonly needsRestart?: boolean;
  /** The Service that has the slice from then on. */
  readonly otherService?: string;
}

function chooseEdit(world: World, slice: JsonObject): Edit {
  const addresses = endpointsOf(slice).map(addressesOf).sort();
  const victims = new Set(addresses.filter(() => world.chance(0.5)));
  const value = world.oneOf('x', 'y');
  const foreign = textAt(slice, 'addressType') === 'IPv6' ? '2001:db8:f::1' : '203.0.113.250';
  const otherService = world.pick(world.services.keys()) ?? 'nobody';
  const labelled = (labels: JsonObject): JsonObject => ({ metadata: { labels } });
  const edits: readonly [Edit, ...Edit[]] = [
    { what: 'deleted', change: () => 'delete' },
    { what: 'deleted', change: () => 'delete' },
    { what: 'emptied', change: () => ({ endpoints: [] }) },
    {
      what: `without ${[...victims].join(' ') || 'nobody'}`,
      change: (own) => ({ endpoints: endpointsOf(own).filter((endpoint) => !victims.has(addressesOf(endpoint))) }),
    },
    {
      what: 'conditions turned',
      change: (own) => ({
        endpoints: endpointsOf(own).map((endpoint) => {
          const conditions = objectAt(endpoint, 'conditions');
          return { ...endpoint, conditions: { ...conditions, ready: conditions.ready !== true } };
        }),
      }),
    },
    {
      what: 'one more endpoint',
      change: (own) => ({ endpoints: [...endpointsOf(own), { addresses: [foreign], conditions: { ready: true } }] }),
    },
    { what: 'other ports', change: () => ({ ports: [{ name: 'wrong', protocol: 'TCP', port: 1 }] }) },
    { what: 'a label', change: () => labelled({ mine: value }) },
    { what: 'no owner', change: () => ({ metadata: { ownerReferences: null } }) },
    { what: 'another manager', change: () => labelled({ [managedByLabel]: 'me.example.org' }), needsRestart: true },
    {
      what: `given to ${otherService}`,
      change: () => labelled({ [serviceNameLabel]: otherService }),
      otherService,
      needsRestart: true,
    },
  ];
  return world.oneOf(...edits);
}

/** Slices of the controllers, each with the one of the other side that is like it. */
function counterparts(world: World, rest: Rest): Readonly<Record<Side, JsonObject>>[] {
  const options = { userSlices: world.userSlices, triggerTime: 'drop' } as const;
  const texts = (side: Side) => normalise(rest[side], options).slices.map(({ object }) => canonical(object));
  const [genuineTexts, sluiceTexts] = [texts('genuine'), texts('sluice')];
  const pairs = rest.genuine.endpointslices.flatMap((genuine, i) => {
    if (!inWorld(world, genuine) || isUserSlice(world, genuine)) return [];
    const text = genuineTexts[i] ?? '';
    const sluice = rest.sluice.endpointslices[sluiceTexts.indexOf(text)];
    return sluice === undefined ? [] : [{ text, genuine, sluice }];
  });
  // Names are made up by the servers; in this order a seed finds the same slice again.
  return pairs.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

const endpointsOf = (slice: JsonObject): readonly JsonObject[] => listAt(slice, 'endpoints').filter(isObject);
const addressesOf = (endpoint: JsonObject): string => listAt(endpoint, 'addresses').join(',');
const serviceOf = (slice: JsonObject): string => textAt(objectAt(slice.metadata, 'labels'), serviceNameLabel);
const isUserSlice = (world: World, { metadata }: JsonObject) => world.userSlices.has(textAt(metadata, 'name'));
const inWorld = (world: World, { metadata }: JsonObject) => textAt(metadata, 'namespace') === world.namespace;

function sliceReference(world: World, { metadata }: JsonObject) {
  return reference('endpointslices', { namespace: world.namespace, name: textAt(metadata, 'name') });
}
