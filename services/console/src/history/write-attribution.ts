import { absent, endpointContent, expectedPlaces, type Place, podsIn } from '@sluice/controllers';
import { type Cause, type Change, causeKindOf, type Fact } from '@sluice/messages';
import { endpointSliceMirroringController, managedByLabel } from '@sluice/model';
import { getOrCreate } from '@sluice/platform';
import type { FieldChange, ServiceState } from '@sluice/service-state';
import type { EndpointChange, ObservedWrite } from '../view/entry-schemas.ts';
import { alignWrites, type ExpectedState, type WrittenState } from './align-writes.ts';
import type { KnownPod } from './describe-pod-change.ts';
import { endpointChanges } from './endpoint-changes.ts';

type WriteOf<K extends FieldChange['kind']> = Extract<FieldChange, { kind: K }>;

/** States and writes of a Pod that are kept for comparison, in one place. */
const maxStates = 8;
const maxCauses = 8;
const maxRecent = 16;
const maxGone = 1_000;
/** What the controllers read of a Service whose Pods they select, and of one whose Endpoints they mirror. */
const readOfPods = ['Service', 'Pod', 'Node'];
const readOfMirrored = ['Service', 'Endpoints'];
/** An event that changes how a Pod should appear; `cause` undefined: before the history began. */
interface ExpectedEndpoint extends ExpectedState {
  readonly cause: Cause | undefined;
}

/** How a write leaves a Pod. */
interface WrittenEndpoint extends WrittenState {
  readonly of: AttributedWrite;
  cause?: Cause | undefined;
}

interface AttributedWrite {
  readonly write: Mutable<ObservedWrite>;
  readonly at: number;
  readonly endpoints: WrittenEndpoint[];
}

/** How one Pod should appear in one place, and how it does, in the order of arrival. */
interface EndpointHistory {
  readonly expected: ExpectedEndpoint[];
  readonly written: WrittenEndpoint[];
}

/**
 * Infers which event caused a write of another controller. A watch does not tell it: the content of the write does, because it
 * shows the state of a Pod since a certain event.
 */
export class WriteAttribution {
  readonly #histories = new Map<string, Map<Place, EndpointHistory>>();
  /** The last events of objects that controllers read. */
  #recent: Cause[] = [];
  /** When each object was last written, by kind and name. */
  readonly #writtenAt = new Map<string, number>();

  /** Begins with a state of which the events are unknown. */
  begin(state: ServiceState): void {
    this.#histories.clear();
    this.#recent = [];
    this.#writtenAt.clear();
    for (const pod of state.pods.keys()) this.#expectPod(state, pod, () => undefined);
  }

  /** A copy adds the same causes to the writes that both have seen. */
  copy(): WriteAttribution {
    const copy = new WriteAttribution();
    for (const [pod, places] of this.#histories) {
      const copied = new Map<Place, EndpointHistory>();
      for (const [place, { expected, written }] of places)
        copied.set(place, { expected: [...expected], written: [...written] });
      copy.#histories.set(pod, copied);
    }
    copy.#recent = [...this.#recent];
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
      ? new Set([...state.pods.keys(), ...this.#histories.keys()])
      : changes.filter(({ kind }) => kind === 'pod').map(({ name }) => name);
    for (const pod of pods) this.#expectPod(state, pod, (known) => causeOf(change, pod, known));
    this.#forgetGone(state);
  }

  /** A Pod that is gone is expected to be removed, but nobody needs to, if it was never added. */
  #forgetGone({ pods }: ServiceState): void {
    for (const pod of this.#histories.keys()) {
      if (this.#histories.size <= pods.size + maxGone) return;
      if (!pods.has(pod)) this.#histories.delete(pod);
    }
  }

  #expectPod(state: ServiceState, pod: string, causeOf: (known: KnownPod | undefined) => Cause | undefined): void {
    const known = state.pods.get(pod);
    for (const [place, content] of expectedPlaces(known, state.service?.service ?? null)) {
      const history = this.#histories.get(pod)?.get(place);
      if ((history?.expected.at(-1)?.content ?? absent) === content) continue;
      const cause = causeOf(known);
      this.#append(pod, place, { expected: { content, since: cause?.observedAt, cause } });
    }
  }

  #append(
    pod: string,
    place: Place,
    { expected, written }: { expected?: ExpectedEndpoint; written?: WrittenEndpoint },
  ) {
    const places = getOrCreate(this.#histories, pod, () => new Map<Place, EndpointHistory>());
    const history = getOrCreate(places, place, () => ({ expected: [], written: [] }));
    if (expected !== undefined) history.expected.push(expected);
    if (written !== undefined) history.written.push(written);
    const isComplete = align(history);
    if (!isComplete) return;
    places.delete(place);
    if (places.size === 0) this.#histories.delete(pod);
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
    const states = isMirrored ? [] : endpoints.map((one) => ({ pod: one.pod, content: contentOf(one) }));
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
    const states = changed.map((pod) => ({ pod, content: now.get(pod) ?? absent }));
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
    const since = this.#writtenAt.get(object) ?? Number.NEGATIVE_INFINITY;
    this.#writtenAt.set(object, at);
    const write: Mutable<ObservedWrite> = {
      verb: before === undefined ? 'create' : after === undefined ? 'delete' : 'update',
      manager: (fact !== undefined && 'manager' in fact ? fact.manager : undefined) ?? null,
      ...causedBy([], at),
      inferredFrom: null,
      endpoints: [...endpoints],
    };
    const isCandidate = (one: Cause) => one.observedAt > since && read.includes(causeKindOf(one));
    const byTime = states.length > 0 ? undefined : this.#recent.find(isCandidate);
    if (byTime !== undefined) Object.assign(write, causedBy([byTime], at), { inferredFrom: 'time' });
    const of: AttributedWrite = { write, at, endpoints: [] };
    for (const { pod, content } of states) {
      const written: WrittenEndpoint = { content, at, of };
      of.endpoints.push(written);
      this.#append(pod, place, { written });
    }
    return write;
  }
}

/** How a write leaves an endpoint. */
const contentOf = ({ addresses, after }: EndpointChange): string =>
  after === null ? absent : endpointContent({ addresses, conditions: after });

/** Gives each write of the history the event that it shows. Returns whether the Pod is gone, as it should be. */
function align({ expected, written }: EndpointHistory): boolean {
  const events = alignWrites(expected, written);
  for (const [i, one] of written.entries()) {
    const cause = expected[events[i] ?? -1]?.cause;
    if (cause === one.cause) continue;
    one.cause = cause;
    const causes = one.of.endpoints.flatMap((endpoint) => endpoint.cause ?? []);
    Object.assign(one.of.write, causedBy(causes, one.at), { inferredFrom: causes.length > 0 ? 'content' : null });
  }
  const isGone = expected.at(-1)?.content === absent && events.includes(expected.length - 1);
  // An event and its write leave together, so that the one cannot match another.
  if (expected.length > maxStates) {
    written.splice(0, events.indexOf(0) + 1);
    expected.shift();
  } else if (written.length > maxStates) {
    expected.splice(0, (events[0] ?? -1) + 1);
    written.shift();
  }
  return isGone;
}

/** The latency is unknown if an event arrived after the write. */
function causedBy(found: readonly Cause[], at: number): Pick<ObservedWrite, 'causes' | 'latencyMs'> {
  const all = unique(found).sort((a, b) => a.observedAt - b.observedAt);
  const first = all[0];
  return {
    causes: { first: all.slice(0, maxCauses), more: Math.max(0, all.length - maxCauses) },
    latencyMs: first === undefined || first.observedAt > at ? null : at - first.observedAt,
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Write {
  readonly object: string;
  readonly event: Cause;
  readonly place: Place;
  /** The Pods whose endpoints the write changes, as it leaves them. */
  readonly states: readonly { readonly pod: string; readonly content: string }[];
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

const unique = (causes: readonly Cause[]): Cause[] => [
  ...new Map(causes.map((cause) => [`${cause.observedAt} ${cause.description}`, cause])).values(),
];
