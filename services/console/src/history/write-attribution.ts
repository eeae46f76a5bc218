import { addressTypesOf, podToEndpoint, podToEndpointAddress, shouldPodBeInEndpoints } from '@sluice/controllers';
import { type Cause, type Change, causeKindOf, type Fact } from '@sluice/messages';
import {
  type EndpointSlice,
  type Endpoints,
  endpointSliceMirroringController,
  managedByLabel,
  type Service,
} from '@sluice/model';
import type { FieldChange, ServiceState } from '@sluice/service-state';
import type { EndpointChange, ObservedWrite } from '../view/entry-schemas.ts';
import type { KnownPod } from './describe-pod-change.ts';
import { endpointChanges, endpointState } from './endpoint-changes.ts';

/** What a controller should write of a Pod, and the event that made it so; undefined: it was so when the history began. */
interface Expectation {
  readonly endpoint: string;
  readonly cause: Cause | undefined;
  isWritten: boolean;
}

/** Where a Pod appears: in slices of an address type, or in the Endpoints. */
type Place = EndpointSlice['addressType'] | 'Endpoints';

type WriteOf<K extends FieldChange['kind']> = Extract<FieldChange, { kind: K }>;

const maxExpectations = 8;
const maxRecent = 16;
const maxGone = 1_000;
/** How much later than the write the event that caused it may arrive, in milliseconds. */
const maxEarlyMs = 5_000;
/** What the controllers read of a Service whose Pods they select, and of one whose Endpoints they mirror. */
const readOfPods = ['Service', 'Pod', 'Node'];
const readOfMirrored = ['Service', 'Endpoints'];
/** A controller needs longer than this from an event to the watch event of its write, in milliseconds. */
const minLatencyMs = 1;
/** How a Pod appears where it should not appear. */
const absent = '';

/**
 * Infers which event caused a write of another controller. A watch does not tell it: the content of the write does, because it
 * shows the state of a Pod since a certain event.
 */
export class WriteAttribution {
  readonly #expected = new Map<string, Map<Place, Expectation[]>>();
  /** The last events of objects that controllers read. */
  #recent: Cause[] = [];
  /** When each object was last written, by kind and name. */
  readonly #writtenAt = new Map<string, number>();
  /** Endpoints of the last writes whose event has not arrived yet: two watches can be out of step. */
  #early: EarlyEndpoint[] = [];

  /** Begins with a state of which the events are unknown. */
  begin(state: ServiceState): void {
    this.#expected.clear();
    this.#recent = [];
    this.#early = [];
    this.#writtenAt.clear();
    for (const pod of state.pods.keys()) this.#expectPod(state, pod, () => undefined);
  }

  copy(): WriteAttribution {
    const copy = new WriteAttribution();
    for (const [pod, places] of this.#expected) {
      const copied = [...places].map(([place, list]) => [place, list.map((one) => ({ ...one }))] as const);
      copy.#expected.set(pod, new Map(copied));
    }
    copy.#recent = [...this.#recent];
    copy.#early = [...this.#early];
    for (const [object, at] of this.#writtenAt) copy.#writtenAt.set(object, at);
    return copy;
  }

  /** The writes that a Change shows, by kind and name of the object. `state`: after the Change, which made these changes. */
  observe(state: ServiceState, change: Change, changes: readonly FieldChange[]): ReadonlyMap<string, ObservedWrite> {
    this.#expect(state, change, changes);
    const writes = new Map<string, ObservedWrite>();
    for (const field of changes) {
      const write = this.#writeOf(state, change, field);
      if (write !== undefined) writes.set(`${field.kind}/${field.name || state.key.service}`, write);
    }
    return writes;
  }

  #expect(state: ServiceState, change: Change, changes: readonly FieldChange[]): void {
    this.#recent = [...this.#recent, ...change.causes.first].slice(-maxRecent);
    const concernsAll = changes.some(({ kind }) => kind === 'service');
    const pods = concernsAll
      ? new Set([...state.pods.keys(), ...this.#expected.keys()])
      : changes.filter(({ kind }) => kind === 'pod').map(({ name }) => name);
    for (const pod of pods) this.#expectPod(state, pod, (known) => causeOf(change, pod, known));
    this.#forgetGone(state);
  }

  /** A Pod that is gone is expected to be removed, but nobody needs to, if it was never added. */
  #forgetGone({ pods }: ServiceState): void {
    for (const pod of this.#expected.keys()) {
      if (this.#expected.size <= pods.size + maxGone) return;
      if (!pods.has(pod)) this.#expected.delete(pod);
    }
  }

  #expectPod(state: ServiceState, name: string, causeOf: (known: KnownPod | undefined) => Cause | undefined): void {
    const known = state.pods.get(name);
    const places = this.#expected.get(name) ?? new Map<Place, Expectation[]>();
    for (const [place, endpoint] of expectedPlaces(known, state.service?.service ?? null)) {
      const list = places.get(place) ?? [];
      if (list.at(-1)?.endpoint === endpoint || (list.length === 0 && endpoint === absent)) continue;
      const cause = causeOf(known);
      list.push({
        endpoint,
        cause,
        isWritten: cause !== undefined && this.#explainEarly({ pod: name, place, endpoint }, cause),
      });
      places.set(place, list.slice(-maxExpectations));
    }
    if (places.size > 0) this.#expected.set(name, places);
  }

  /** Whether a write already shows this endpoint, of which the event arrives now. */
  #explainEarly(expected: Omit<EarlyEndpoint, 'at' | 'write'>, cause: Cause): boolean {
    const isOf = ({ pod, place, endpoint, at }: EarlyEndpoint) =>
      pod === expected.pod &&
      place === expected.place &&
      endpoint === expected.endpoint &&
      cause.observedAt - at < maxEarlyMs;
    const index = this.#early.findIndex(isOf);
    const [early] = index < 0 ? [] : this.#early.splice(index, 1);
    if (early === undefined) return false;
    const { write } = early;
    write.inferredFrom = 'content';
    write.causes = { ...write.causes, first: unique([...write.causes.first, cause]) };
    return true;
  }

  #writeOf(state: ServiceState, change: Change, field: FieldChange): ObservedWrite | undefined {
    if (field.kind === 'slice') return this.#sliceWrite(change, field);
    if (field.kind === 'endpoints') return this.#endpointsWrite(state, change, field);
    return undefined;
  }

  #sliceWrite(change: Change, { name, before, after }: WriteOf<'slice'>): ObservedWrite | undefined {
    if (before?.slice === after?.slice) return undefined;
    const event = writeEvent(change, 'EndpointSlice', name);
    if (event === undefined) return this.#found(`slice/${name}`, change);
    const slice = after?.slice ?? before?.slice;
    const endpoints = endpointChanges(name, before?.slice ?? null, after?.slice ?? null);
    const isMirrored = slice?.metadata.labels?.[managedByLabel] === endpointSliceMirroringController;
    const place = slice?.addressType ?? 'IPv4';
    const states = isMirrored ? [] : endpoints.map((one) => ({ pod: one.pod, endpoint: textOf(one) }));
    const read = isMirrored ? readOfMirrored : readOfPods;
    const fact = change.facts.find((one) => one.kind === 'slice' && one.name === name);
    return this.#attribute({ object: `slice/${name}`, event, place, states, read, fact, endpoints, before, after });
  }

  #endpointsWrite(state: ServiceState, change: Change, field: WriteOf<'endpoints'>): ObservedWrite | undefined {
    const { before, after } = field;
    const { service: name } = state.key;
    if (before?.endpoints === after?.endpoints) return undefined;
    const event = writeEvent(change, 'Endpoints', name);
    if (event === undefined) return this.#found(`endpoints/${name}`, change);
    const [old, now] = [podsIn(before?.endpoints), podsIn(after?.endpoints)];
    const changed = [...new Set([...old.keys(), ...now.keys()])].filter((pod) => old.get(pod) !== now.get(pod));
    const states = changed.map((pod) => ({ pod, endpoint: now.get(pod) ?? absent }));
    const fact = change.facts.find(({ kind }) => kind === 'endpoints');
    const written = { fact, endpoints: [], before, after };
    const read = readOfPods;
    return this.#attribute({ object: `endpoints/${name}`, event, place: 'Endpoints', states, read, ...written });
  }

  /** A snapshot shows an object: what happened before it explains no later write. */
  #found(object: string, { causes }: Change): undefined {
    this.#writtenAt.set(object, causes.first[0]?.observedAt ?? 0);
  }

  #attribute({ object, event, place, states, read, fact, endpoints, before, after }: Write): ObservedWrite {
    const at = event.observedAt;
    const found = states.map(({ pod, endpoint }) => this.#expectationOf(pod, { place, endpoint, at }));
    const since = this.#writtenAt.get(object) ?? Number.NEGATIVE_INFINITY;
    this.#writtenAt.set(object, at);
    const byContent = found.flatMap((one) => one?.cause ?? []);
    const isCandidate = (one: Cause) => one.observedAt > since && read.includes(causeKindOf(one));
    const byTime = states.length > 0 ? undefined : this.#recent.find(isCandidate);
    const causes = byContent.length > 0 ? byContent : byTime === undefined ? [] : [byTime];
    const first = unique(causes).sort((a, b) => a.observedAt - b.observedAt);
    const manager = fact !== undefined && 'manager' in fact ? fact.manager : undefined;
    const write: Mutable<ObservedWrite> = {
      verb: before === undefined ? 'create' : after === undefined ? 'delete' : 'update',
      manager: manager ?? null,
      inferredFrom: causes.length === 0 ? null : byContent.length > 0 ? 'content' : 'time',
      causes: { first: first.slice(0, maxExpectations), more: Math.max(0, first.length - maxExpectations) },
      latencyMs: first[0] === undefined ? null : Math.max(0, at - first[0].observedAt),
      endpoints: [...endpoints],
    };
    // An endpoint that is as expected has moved from another slice.
    const expectedNow = (pod: string) => this.#expected.get(pod)?.get(place)?.at(-1)?.endpoint ?? absent;
    const unexplained = states.filter(
      ({ pod, endpoint }, i) => found[i] === undefined && expectedNow(pod) !== endpoint,
    );
    const early = unexplained.map(({ pod, endpoint }) => ({ pod, place, endpoint, at, write }));
    this.#early = [...this.#early, ...early].slice(-maxRecent);
    return write;
  }

  /** The expectation that the written endpoint fulfils. The newest: the controller read it last. Undefined: none that was not written. */
  #expectationOf(pod: string, { place, endpoint, at }: { place: Place; endpoint: string; at: number }) {
    const places = this.#expected.get(pod);
    const list = places?.get(place) ?? [];
    const isPossible = ({ cause }: Expectation) => cause === undefined || cause.observedAt + minLatencyMs <= at;
    const matching = list.filter((one) => one.endpoint === endpoint);
    const unwritten = matching.filter(({ isWritten }) => !isWritten);
    const expectation = unwritten.findLast(isPossible) ?? unwritten[0];
    if (expectation === undefined) return undefined;
    expectation.isWritten = true;
    places?.set(place, list.slice(list.indexOf(expectation)));
    if (endpoint === absent && list.at(-1) === expectation) places?.delete(place);
    if (places?.size === 0) this.#expected.delete(pod);
    return expectation;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface EarlyEndpoint {
  readonly pod: string;
  readonly place: Place;
  readonly endpoint: string;
  /** When the write arrived. */
  readonly at: number;
  readonly write: Mutable<ObservedWrite>;
}

interface Write {
  readonly object: string;
  readonly event: Cause;
  readonly place: Place;
  /** The Pods whose endpoints the write changes, as it leaves them. */
  readonly states: readonly { readonly pod: string; readonly endpoint: string }[];
  /** Kinds of objects that the controller reads. */
  readonly read: readonly string[];
  readonly fact: Fact | undefined;
  readonly endpoints: readonly EndpointChange[];
  readonly before: object | undefined;
  readonly after: object | undefined;
}

/** The event that shows a write; undefined for an object that a snapshot found. */
function writeEvent(change: Change, kind: string, name: string): Cause | undefined {
  const { causes, key, snapshot } = change;
  const named = causes.first.findLast(({ description }) => description.startsWith(`${kind} ${key.namespace}/${name} `));
  return named ?? (snapshot === undefined ? causes.first.at(-1) : undefined);
}

/** What made a Pod as it is: an event of the Pod, its Node or the Service, in this order. */
function causeOf({ causes, key, snapshot }: Change, pod: string, known: KnownPod | undefined): Cause | undefined {
  const subjects = [
    `Pod ${key.namespace}/${pod} `,
    `Node ${known?.pod.nodeName ?? ''} `,
    `Service ${key.namespace}/${key.service} `,
  ];
  for (const subject of subjects) {
    const cause = causes.first.findLast(({ description }) => description.startsWith(subject));
    if (cause !== undefined) return cause;
  }
  return snapshot === undefined ? causes.first.at(-1) : undefined;
}

function* expectedPlaces(known: KnownPod | undefined, service: Service | null): Iterable<[Place, string]> {
  const types = service === null ? [] : addressTypesOf(service);
  for (const type of ['IPv4', 'IPv6'] as const) {
    yield [type, known && service && types.includes(type) ? expectedEndpoint(known, service, type) : absent];
  }
  yield ['Endpoints', known && service ? expectedAddress(known, service) : absent];
}

/** As upstream decides it (C3, E15, E17). */
function expectedEndpoint({ pod, node }: KnownPod, service: Service, type: 'IPv4' | 'IPv6'): string {
  const isLeftOut = node === null && !service.publishNotReadyAddresses;
  if (service.selector === null || isLeftOut || !shouldPodBeInEndpoints(pod, true)) return absent;
  const endpoint = podToEndpoint(pod, node, service, type);
  if (endpoint.addresses.length === 0) return absent;
  return textOf({ addresses: endpoint.addresses, after: endpointState(endpoint) });
}

/** As upstream decides it (D10, D11). */
function expectedAddress({ pod }: KnownPod, service: Service): string {
  const { publishNotReadyAddresses, selector } = service;
  if (selector === null || !shouldPodBeInEndpoints(pod, publishNotReadyAddresses)) return absent;
  const address = podToEndpointAddress(pod, service);
  return address === null ? absent : `${address.ip} ${publishNotReadyAddresses || pod.ready}`;
}

/** Without zone and hints, which depend on other objects. */
function textOf({ addresses, after }: Pick<EndpointChange, 'addresses' | 'after'>): string {
  return after === null ? absent : [addresses.join(), after.ready, after.serving, after.terminating].join(' ');
}

function podsIn(endpoints: Endpoints | undefined): ReadonlyMap<string, string> {
  const pods = new Map<string, string>();
  for (const { addresses, notReadyAddresses } of endpoints?.subsets ?? []) {
    for (const { ip, targetRef } of addresses ?? []) pods.set(targetRef?.name ?? ip, `${ip} true`);
    for (const { ip, targetRef } of notReadyAddresses ?? []) pods.set(targetRef?.name ?? ip, `${ip} false`);
  }
  return pods;
}

const unique = (causes: readonly Cause[]): Cause[] => [
  ...new Map(causes.map((cause) => [`${cause.observedAt} ${cause.description}`, cause])).values(),
];
