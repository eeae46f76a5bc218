import { absent, endpointContent, expectedPlaces, podOf, podsIn } from '@sluice/controllers';
import type { Message } from '@sluice/messages';
import { type Endpoint, type EndpointSlice, overCapacityAnnotation } from '@sluice/model';
import { getOrCreate } from '@sluice/platform';
import type { AppliedMessage, FieldChange, ServiceState } from '@sluice/service-state';

/** How a Pod appears. */
export type Appearance = 'absent' | 'not ready' | 'ready' | 'terminating';

/** How long slices or Endpoints did not show a Pod as they should have. */
export interface Propagation {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly pod: string;
  readonly place: 'slices' | 'Endpoints';
  /** As the place showed the Pod. */
  readonly from: Appearance;
  /** As it should have. */
  readonly to: Appearance;
  /** The event that began it, for people. */
  readonly event: string;
  /** In milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** False: it began before the Service was watched, or while it was not. */
  readonly isStartKnown: boolean;
  /** Null: it continues. */
  readonly endedAt: number | null;
  /**
   * written: the place shows the Pod as it should; superseded: a later event changed how it should; unobserved: it ended while
   * the Service was not watched.
   */
  readonly end: PropagationEnd | null;
}

export type PropagationEnd = 'written' | 'superseded' | 'unobserved';

/** What one message means for the propagation of changes: how it explains a difference that begins or ends. */
interface Trigger {
  readonly kind: 'event' | 'write' | 'snapshot';
  readonly at: number;
  readonly text: string;
}

/** What a record says, for people, and when it was received in milliseconds since the Unix epoch. */
export interface EventOfRecord {
  readonly text: string;
  readonly receivedAt: number;
}

type Subject = Pick<Propagation, 'key' | 'pod' | 'place'>;

interface Difference {
  readonly propagation: Propagation;
  readonly expected: string;
  /** A write began it, so the event that it shows may still be on its way. */
  readonly byWrite: boolean;
}

/** Follows how changes of Pods reach the slices and the Endpoints of their Services. */
export class Propagations {
  /** Differences that continue, by Service and by place and Pod. */
  readonly #open = new Map<string, Map<string, Difference>>();

  /** Those that continue. */
  get open(): Iterable<Propagation> {
    return this.#open.values().flatMap((differences) => differences.values().map(({ propagation }) => propagation));
  }

  /** Those that the message ends. */
  observe(
    key: string,
    message: Message,
    { state, changes }: AppliedMessage,
    { text, receivedAt }: EventOfRecord,
  ): readonly Propagation[] {
    const { open, complete, partial } = state.snapshot;
    if (open !== null || partial || !complete) return [];
    const isSnapshot = message.kind === 'change' && message.snapshot !== undefined;
    const at = timeOf(message, receivedAt);
    const ended: Propagation[] = [];
    const serviceChanged = changes.some((one) => one.kind === 'service' && one.before?.service !== one.after?.service);
    if (!hasPods(state)) return this.#supersede(key, at, ['slices', 'Endpoints']);
    if (!hasAllEndpoints(state)) ended.push(...this.#supersede(key, at, ['Endpoints']));
    const all = isSnapshot || serviceChanged;
    const written = changes.flatMap(podsOfWrite);
    const events = new Set(all ? state.pods.keys() : changes.flatMap(({ kind, name }) => (kind === 'pod' ? name : [])));
    const differences = this.#open.get(key);
    const known = all ? [...(differences?.values() ?? [])].map(({ propagation }) => propagation.pod) : [];
    const pods = new Set([...events, ...written, ...known]);
    if (pods.size === 0) return ended;
    const shown = shownPods(state, pods);
    for (const pod of pods) {
      const kind = isSnapshot ? 'snapshot' : serviceChanged || events.has(pod) ? 'event' : 'write';
      const { slices, endpoints } = expectedOf(state, pod);
      const trigger = { kind, at, text } as const;
      this.#update({ key, pod, place: 'slices' }, slices, shown.inSlices(pod), trigger, ended);
      if (!hasAllEndpoints(state)) continue;
      this.#update({ key, pod, place: 'Endpoints' }, endpoints, shown.inEndpoints(pod), trigger, ended);
    }
    return ended;
  }

  /** Nothing is expected of the Service in these places any more. */
  #supersede(key: string, at: number, places: readonly Propagation['place'][]): readonly Propagation[] {
    const ended: Propagation[] = [];
    const differences = this.#open.get(key);
    for (const [name, { propagation }] of differences ?? []) {
      if (!places.includes(propagation.place)) continue;
      differences?.delete(name);
      ended.push({ ...propagation, endedAt: at, end: 'superseded' });
    }
    if (differences?.size === 0) this.#open.delete(key);
    return ended;
  }

  /** The Service is no longer watched. */
  remove(key: string): void {
    this.#open.delete(key);
  }

  #update(of: Subject, expected: string, shown: string, { kind, at, text }: Trigger, ended: Propagation[]): void {
    const { key, pod, place } = of;
    const differences = getOrCreate(this.#open, key, () => new Map<string, Difference>());
    const name = `${place}/${pod}`;
    const before = differences.get(name);
    if (before !== undefined && before.expected === expected && expected !== shown) return;
    if (before !== undefined) {
      differences.delete(name);
      const isEarly = before.byWrite && kind === 'event' && expected === shown;
      const { propagation } = before;
      ended.push(isEarly ? shownEarly(propagation, { at, text }) : { ...propagation, endedAt: at, end: endBy[kind] });
    }
    if (expected !== shown) {
      const change = { from: appearanceOf(shown), to: appearanceOf(expected), event: text, startedAt: at };
      const propagation = { ...of, ...change, isStartKnown: kind !== 'snapshot', endedAt: null, end: null };
      differences.set(name, { propagation, expected, byWrite: kind === 'write' });
    }
    if (differences.size === 0) this.#open.delete(key);
  }
}

const endBy = { event: 'superseded', write: 'written', snapshot: 'unobserved' } as const;

/** The watch of the slices was ahead of that of the Pods: what looked like a wrong write shows this event. */
const shownEarly = (before: Propagation, { at, text }: Pick<Trigger, 'at' | 'text'>): Propagation => ({
  ...before,
  ...{ from: before.to, to: before.from, event: text, startedAt: at, endedAt: at, end: 'written' },
});

/** Whether the controllers write the Service's Pods into its slices. */
function hasPods(state: ServiceState): boolean {
  const service = state.service?.service ?? null;
  return service !== null && service.selector !== null && service.type !== 'ExternalName' && !service.deleting;
}

/** False if nobody writes Endpoints, or if they are not complete by design. */
function hasAllEndpoints({ endpoints }: ServiceState): boolean {
  return endpoints !== null && endpoints.endpoints.metadata.annotations?.[overCapacityAnnotation] === undefined;
}

/** How the Pod should appear in the slices of both address types, and in the Endpoints. */
function expectedOf({ pods, service }: ServiceState, pod: string) {
  const expected = new Map(expectedPlaces(pods.get(pod), service?.service ?? null));
  return {
    slices: addressTypes.map((type) => expected.get(type) ?? absent).join(';'),
    endpoints: expected.get('Endpoints') ?? absent,
  };
}

/** How slices and Endpoints show these Pods. */
function shownPods({ slices, endpoints }: ServiceState, pods: ReadonlySet<string>) {
  const found = new Map<string, { readonly type: string; readonly endpoint: Endpoint }[]>();
  for (const { slice } of slices.values())
    for (const endpoint of slice.endpoints ?? []) {
      const pod = podOf(endpoint);
      if (pods.has(pod)) getOrCreate(found, pod, () => []).push({ type: slice.addressType, endpoint });
    }
  const addresses = podsIn(endpoints?.endpoints);
  /** A Pod that slices show in different ways appears in none of them. */
  const inType = (pod: string, type: string) => {
    const ofType = (found.get(pod) ?? []).filter((one) => one.type === type);
    return [...new Set(ofType.map(({ endpoint }) => endpointContent(endpoint)))].sort().join('|');
  };
  return {
    inSlices: (pod: string) => addressTypes.map((type) => inType(pod, type)).join(';'),
    inEndpoints: (pod: string) => addresses.get(pod) ?? absent,
  };
}

const addressTypes = ['IPv4', 'IPv6'] as const;

/** Pods whose endpoints a write changes. */
function podsOfWrite({ kind, before, after }: FieldChange): readonly string[] {
  if (kind === 'slice')
    return changedNames(endpointsByPod(before?.slice), endpointsByPod(after?.slice), isSameEndpoint);
  if (kind !== 'endpoints') return [];
  return changedNames(podsIn(before?.endpoints), podsIn(after?.endpoints), (old, now) => old === now);
}

function changedNames<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  isSame: (old: T, now: T) => boolean,
): readonly string[] {
  const changed: string[] = [];
  for (const [name, now] of after) {
    const old = before.get(name);
    if (old === undefined || !isSame(old, now)) changed.push(name);
  }
  for (const name of before.keys()) if (!after.has(name)) changed.push(name);
  return changed;
}

function endpointsByPod(slice: EndpointSlice | undefined): ReadonlyMap<string, Endpoint> {
  const byPod = new Map<string, Endpoint>();
  for (const endpoint of slice?.endpoints ?? []) {
    const pod = podOf(endpoint);
    if (pod !== '') byPod.set(pod, endpoint);
  }
  return byPod;
}

/** Compares without allocating: a write changes few of its endpoints. */
function isSameEndpoint(old: Endpoint, now: Endpoint): boolean {
  const [a, b] = [old.conditions, now.conditions];
  return (
    old === now ||
    (a?.ready === b?.ready &&
      a?.serving === b?.serving &&
      a?.terminating === b?.terminating &&
      old.addresses.length === now.addresses.length &&
      old.addresses[0] === now.addresses[0])
  );
}

/** Of the content of endpoints in slices or Endpoints, as `expectedPlaces` gives it. */
function appearanceOf(content: string): Appearance {
  const endpoints = content.split(/[;|]/).filter((one) => one !== absent);
  if (endpoints.length === 0) return 'absent';
  const flags = endpoints.map((one) => one.split(' ').slice(1));
  if (flags.some(([, , terminating]) => terminating === 'true')) return 'terminating';
  return flags.every(([ready]) => ready === 'true') ? 'ready' : 'not ready';
}

function timeOf(message: Message, receivedAt: number): number {
  if (message.kind === 'outcome') return message.completedAt;
  return message.kind === 'change' ? (message.causes.first[0]?.observedAt ?? receivedAt) : receivedAt;
}
