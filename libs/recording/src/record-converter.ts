import type { BusRecord, Topic } from '@sluice/bus';
import {
  type Change,
  type ClusterRemoved,
  encodeMessage,
  isServiceKey,
  type Message,
  type SimilarPods,
} from '@sluice/messages';
import type { Logger } from '@sluice/platform';
import { type AppliedMessage, type ServiceState, ServiceStates } from '@sluice/service-state';
import { objectsOf, textOf } from './message-summary.ts';
import { checkService } from './problems/check-service.ts';
import { ObjectManagers } from './problems/object-managers.ts';
import { type FormerRecording, ServicePasts } from './problems/service-pasts.ts';
import { type EventOfRecord, type Propagation, Propagations } from './propagations.ts';
import { messageOf, type NewRecord, type RecordedService } from './records.ts';
import { snapshotOf } from './service-snapshot.ts';

/** Endpoints repeat the slices, and a recording would double. Those that differ for less are not recorded, in milliseconds. */
const minEndpointsMs = 1_000;
/** A larger snapshot is no dictionary for the records that follow it: to read it would take longer than it saves. */
const maxDictionaryBytes = 128 * 1024;

/** Turns the records of a bus, in their order, into those of a recording, with what follows from them. */
export class RecordConverter {
  readonly #states = new ServiceStates();
  readonly #propagations = new Propagations();
  readonly #managers = new ObjectManagers();
  readonly #pasts = new ServicePasts();
  /** Pods whose labels resemble a selector, by Service. */
  readonly #similarPods = new Map<string, SimilarPods>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** This recording continues another one. */
  continueFrom(former: FormerRecording): void {
    this.#pasts.restore(former);
  }

  /** Undefined for a record that is not part of the history of a Service. */
  convert(topic: Topic, record: BusRecord, receivedAt: number): NewRecord | undefined {
    if (topic === 'requests') return undefined;
    const message = messageOf(record);
    if (message === undefined || (!isServiceKey(record.key) && message.kind !== 'clusterRemoved')) return undefined;
    const { key, headers, payload } = record;
    const text = textOf(message);
    // Each partition of a log has the removal of a cluster. Only the first one changes anything.
    if (message.kind === 'clusterRemoved' && !this.#removeCluster(message)) return undefined;
    return {
      ...{ key, topic, receivedAt, text, payload },
      startsSnapshot: message.kind === 'change' && message.snapshot?.first === true,
      objects: objectsOf(message),
      traceparent: headers.traceparent,
      managerChanges: this.#managers.observe(key, message),
      ...this.#consequences(key, message, { text, receivedAt }),
    };
  }

  #removeCluster(removal: ClusterRemoved): boolean {
    const removed = this.#states.removeCluster(removal);
    for (const key of removed) {
      for (const known of [this.#propagations, this.#managers, this.#pasts]) known.remove(key);
      this.#similarPods.delete(key);
    }
    return removed.length > 0;
  }

  /** Whether the Service, a slice of it or its Endpoints exist. */
  exists(key: string): boolean {
    const state = this.#states.get(key);
    return state !== undefined && hasObjects(state);
  }

  /** The state of a Service after the records until `now`, as a record; undefined if it is not settled. */
  snapshot(key: string, now: number): NewRecord | undefined {
    const state = this.#states.get(key);
    const similarPods = this.#similarPods.get(key);
    const change = state && snapshotOf(state, { similarPods, now });
    if (state === undefined || change === undefined) return undefined;
    const payload = encodeMessage(change);
    return {
      ...{ key, topic: 'changes', receivedAt: now, text: textOf(change), payload },
      startsSnapshot: true,
      objects: payload.length > maxDictionaryBytes ? [] : objectsOf(change),
      service: this.#serviceOf(key, change, { state, changes: [] }, now),
      ...{ propagations: [], managerChanges: [], traceparent: undefined },
    };
  }

  #consequences(key: string, message: Message, event: EventOfRecord): Pick<NewRecord, 'service' | 'propagations'> {
    try {
      const applied = this.#states.apply(key, message, event.receivedAt);
      if (applied === undefined) return nothing;
      const propagations = this.#propagations.observe(key, message, applied, event).filter(isRecorded);
      return { service: this.#serviceOf(key, message, applied, event.receivedAt), propagations };
    } catch (error) {
      this.#logger.error('record not applied; the recording has it', { key, error });
      return nothing;
    }
  }

  #serviceOf(
    key: string,
    message: Message,
    { state, changes }: AppliedMessage,
    at: number,
  ): RecordedService | undefined {
    this.#rememberSimilarPods(key, message);
    const changed = changes.find(({ kind }) => kind === 'service');
    const [before, after] = changed?.kind === 'service' ? [changed.before?.service, changed.after?.service] : [];
    const { open, complete } = state.snapshot;
    const isComplete = open === null && complete;
    if (!isComplete && !(before && !after)) return undefined;
    // Plans and most Outcomes change no object.
    if (message.kind !== 'change' && !changes.some(({ kind }) => kind === 'slice' || kind === 'endpoints'))
      return undefined;
    const isDeleted = isComplete ? !hasObjects(state) : !state.service?.service;
    const isCreated = !before && Boolean(after) && message.kind === 'change' && message.snapshot?.initial === false;
    // Users write the Endpoints of a Service without a selector.
    const isCustom = state.service?.service?.selector === null;
    const isEvent =
      isCreated || (message.kind === 'change' && message.snapshot === undefined && hasEvent(message, isCustom));
    const mayBeUnwatched = isCustom && state.slices.size === 0;
    const past = this.#pasts.observe(key, { state, changes, at, isCreated });
    const problems = isDeleted ? {} : checkService(state, { similar: this.#similarPods.get(key), past });
    return { isCreated, isDeleted, isEvent, mayBeUnwatched, problems };
  }

  #rememberSimilarPods(key: string, message: Message): void {
    if (message.kind !== 'change') return;
    for (const fact of message.facts) {
      if (fact.kind !== 'service') continue;
      if (fact.similarPods === undefined) this.#similarPods.delete(key);
      else this.#similarPods.set(key, fact.similarPods);
    }
  }

  /** Propagations that continue. */
  get open(): readonly Propagation[] {
    return [...this.#propagations.open].filter(isRecorded);
  }
}

const hasObjects = ({ service, slices, endpoints }: ServiceState): boolean =>
  Boolean(service?.service) || slices.size > 0 || endpoints !== null;

const nothing = { service: undefined, propagations: [] };

const isRecorded = ({ place, startedAt, endedAt }: Propagation): boolean =>
  place === 'slices' || (endedAt ?? Number.POSITIVE_INFINITY) - startedAt >= minEndpointsMs;

const hasEvent = ({ facts }: Change, isCustom: boolean): boolean =>
  facts.some(({ kind }) => kind === 'pod' || kind === 'service' || (isCustom && kind === 'endpoints'));
