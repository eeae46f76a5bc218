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
import type { Comparison, Side } from '../pair.ts';
import { editManagedEndpoints } from './endpoints-steps.ts';
import { deleteService, toggleExternal, toggleSelector } from './service-steps.ts';
import { type Step, step, type Workload, type WorkloadService } from './workload.ts';

export interface ConvergedStep extends Step {
  /** The affected Service, which has at most one such step per round. */
  readonly service: string;
  /** Another affected Service. */
  readonly otherService?: string;
  /** Upstream notices the step only after a restart (C21). */
  readonly needsRestart: boolean;
}

/**
 * A step whose result depends on earlier writes: a deleted Service leaves its slices as they are, and a manual edit
 * needs the same slice on both sides. Such steps require convergence.
 */
export function convergedStep(
  workload: Workload,
  rest: Comparison,
  taken: ReadonlySet<string>,
): ConvergedStep | undefined {
  switch (workload.integer(1, 14)) {
    case 1:
      return ofService(workload, taken, deleteService);
    case 2:
    case 3:
      return ofService(workload, taken, toggleSelector);
    case 4:
      return ofService(workload, taken, toggleExternal);
    case 5:
    case 6:
      return ofService(workload, taken, editManagedEndpoints);
    case 7:
      return collectGarbage(workload, rest, taken);
    default:
      return editSlice(workload, rest, taken);
  }
}

function ofService(
  workload: Workload,
  taken: ReadonlySet<string>,
  make: (workload: Workload, service: WorkloadService) => Step | undefined,
): ConvergedStep | undefined {
  const service = workload.pick([...workload.services.values()].filter(({ name }) => !taken.has(name)));
  const made = service && make(workload, service);
  return made && { ...made, service: service.name, needsRestart: false };
}

/** Acts as the garbage collector, which does not run in these clusters. */
function collectGarbage(workload: Workload, rest: Comparison, taken: ReadonlySet<string>): ConvergedStep | undefined {
  const slices = rest.upstream.endpointslices.filter(
    (slice) => !isUserSlice(workload, slice) && inNamespace(workload, slice),
  );
  const gone = [...new Set(slices.map(serviceOf))].filter((name) => !workload.services.has(name) && !taken.has(name));
  const service = workload.pick(gone.sort());
  if (service === undefined) return undefined;
  const collect = step(`slices of ${service} garbage-collected`, async (client) => {
    for (const slice of await client.list('endpointslices')) {
      if (!inNamespace(workload, slice) || isUserSlice(workload, slice) || serviceOf(slice) !== service) continue;
      await client.delete(sliceReference(workload, slice));
    }
  });
  return { ...collect, service, needsRestart: false };
}

/** Edits or deletes a slice that is the same on both sides. */
function editSlice(workload: Workload, rest: Comparison, taken: ReadonlySet<string>): ConvergedStep | undefined {
  const pairs = counterparts(workload, rest).filter(({ upstream }) => !taken.has(serviceOf(upstream)));
  const chosen = workload.pick(pairs);
  if (chosen === undefined) return undefined;
  const edit = chooseEdit(workload, chosen.upstream);
  const request = async (side: Side, client: Parameters<Step['requests'][number]>[0]) => {
    const slice = chosen[side];
    const where = sliceReference(workload, slice);
    const change = edit.change(slice);
    if (change === 'delete') await client.delete(where);
    else await client.patch(where, change);
  };
  const service = serviceOf(chosen.upstream);
  const { otherService } = edit;
  if (otherService !== undefined && taken.has(otherService)) return undefined;
  const made = step(`slice of ${service} edited manually: ${edit.what}`, (client, side) => request(side, client));
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
  /** The Service that the slice belongs to afterwards. */
  readonly otherService?: string;
}

function chooseEdit(workload: Workload, slice: JsonObject): Edit {
  const addresses = endpointsOf(slice).map(addressesOf).sort();
  const victims = new Set(addresses.filter(() => workload.chance(0.5)));
  const value = workload.oneOf('x', 'y');
  const foreign = textAt(slice, 'addressType') === 'IPv6' ? '2001:db8:f::1' : '203.0.113.250';
  const otherService = workload.pick(workload.services.keys()) ?? 'nobody';
  const labelled = (labels: JsonObject): JsonObject => ({ metadata: { labels } });
  const edits: readonly [Edit, ...Edit[]] = [
    { what: 'deleted', change: () => 'delete' },
    { what: 'deleted', change: () => 'delete' },
    { what: 'emptied', change: () => ({ endpoints: [] }) },
    {
      what: `without ${[...victims].join(' ') || 'none'}`,
      change: (own) => ({ endpoints: endpointsOf(own).filter((endpoint) => !victims.has(addressesOf(endpoint))) }),
    },
    {
      what: 'readiness inverted',
      change: (own) => ({
        endpoints: endpointsOf(own).map((endpoint) => {
          const conditions = objectAt(endpoint, 'conditions');
          return { ...endpoint, conditions: { ...conditions, ready: conditions.ready !== true } };
        }),
      }),
    },
    {
      what: 'additional endpoint',
      change: (own) => ({ endpoints: [...endpointsOf(own), { addresses: [foreign], conditions: { ready: true } }] }),
    },
    { what: 'other ports', change: () => ({ ports: [{ name: 'wrong', protocol: 'TCP', port: 1 }] }) },
    { what: 'additional label', change: () => labelled({ mine: value }) },
    { what: 'no owner', change: () => ({ metadata: { ownerReferences: null } }) },
    { what: 'another manager', change: () => labelled({ [managedByLabel]: 'me.example.org' }), needsRestart: true },
    {
      what: `given to ${otherService}`,
      change: () => labelled({ [serviceNameLabel]: otherService }),
      otherService,
      needsRestart: true,
    },
  ];
  return workload.oneOf(...edits);
}

/** Slices of the controllers, each with its counterpart on the other side. */
function counterparts(workload: Workload, rest: Comparison): Readonly<Record<Side, JsonObject>>[] {
  const options = { userSlices: workload.userSlices, triggerTime: 'drop' } as const;
  const texts = (side: Side) => normalise(rest[side], options).slices.map(({ object }) => canonical(object));
  const [upstreamTexts, sluiceTexts] = [texts('upstream'), texts('sluice')];
  const pairs = rest.upstream.endpointslices.flatMap((upstream, i) => {
    if (!inNamespace(workload, upstream) || isUserSlice(workload, upstream)) return [];
    const text = upstreamTexts[i] ?? '';
    const sluice = rest.sluice.endpointslices[sluiceTexts.indexOf(text)];
    return sluice === undefined ? [] : [{ text, upstream, sluice }];
  });
  // Names are generated by the servers; this order lets a seed find the same slice again.
  return pairs.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

const endpointsOf = (slice: JsonObject): readonly JsonObject[] => listAt(slice, 'endpoints').filter(isObject);
const addressesOf = (endpoint: JsonObject): string => listAt(endpoint, 'addresses').join(',');
const serviceOf = (slice: JsonObject): string => textAt(objectAt(slice.metadata, 'labels'), serviceNameLabel);
const isUserSlice = (workload: Workload, { metadata }: JsonObject) => workload.userSlices.has(textAt(metadata, 'name'));
const inNamespace = (workload: Workload, { metadata }: JsonObject) =>
  textAt(metadata, 'namespace') === workload.namespace;

function sliceReference(workload: Workload, { metadata }: JsonObject) {
  return reference('endpointslices', { namespace: workload.namespace, name: textAt(metadata, 'name') });
}
