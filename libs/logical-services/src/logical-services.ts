import { formatServiceKey, isServiceKey, type Message, parseServiceKey, type ServiceKey } from '@sluice/messages';
import { defaultSettings, type FieldChange, type ServiceState, ServiceStates } from '@sluice/service-state';
import { reduceChange } from './reduce-change.ts';
import { type ServiceSpec, SharedSpecs, specOf } from './service-spec.ts';

/** A Service as one of all clusters: by namespace and name, which mean the same in each (KEP-1645, namespace sameness). */
export interface LogicalService {
  readonly namespace: string;
  readonly name: string;
  /** Increases with each change. */
  readonly version: number;
  /** When its spec last changed in a cluster, in milliseconds since the Unix epoch. */
  readonly specsChangedAt: number;
  /** The Service in each cluster that has it, or slices of it. */
  readonly members: Iterable<ServiceState>;
}

/** What is read of them. */
export type ReadableLogicalServices = Pick<LogicalServices, 'all' | 'get' | 'nameOf' | 'clusters' | 'lastChangeAt'>;

interface Options {
  /** Label of a Service whose value is its name in all clusters, if it has another name in its own. Default: none. */
  readonly nameLabel?: string | undefined;
}

/** Nothing is decided here. */
const settings = { ...defaultSettings, controllers: new Set<never>() };

/**
 * Joins the Services of all clusters by namespace and name, as the log says. Of each it keeps the spec, and of each endpoint its
 * state and zone: Changes are applied as in a reconciler, without Pods. Outcomes add nothing, because watchers publish what was written.
 */
export class LogicalServices {
  readonly #nameLabel: string | undefined;
  readonly #states = new ServiceStates(settings);
  /** By namespace and name. */
  readonly #services = new Map<string, JoinedService>();
  /** By formatted key of the Service in its cluster. */
  readonly #joined = new Map<string, JoinedService>();
  readonly #lastChangeAt = new Map<string, number>();

  constructor({ nameLabel }: Options = {}) {
    this.#nameLabel = nameLabel;
  }

  /**
   * Applies a message of the log. Leaves out `default/kubernetes`, by which each cluster means its own API server. `key`: of the
   * record. `now`: in milliseconds since the Unix epoch.
   */
  apply(key: string, message: Message, now: number): void {
    if (message.kind === 'clusterRemoved') {
      for (const removed of this.#states.removeCluster(message)) this.#leave(removed);
      // Each partition repeats the removal, also after a later watcher has published the cluster again.
      const isLeft = this.#states.keys.some((one) => one.startsWith(`${message.cluster}/`));
      if (!isLeft) this.#lastChangeAt.delete(message.cluster);
      return;
    }
    if (message.kind !== 'change' || !isServiceKey(key)) return;
    const { cluster, namespace, service: name } = message.key;
    const at = message.causes.first[0]?.observedAt ?? 0;
    this.#lastChangeAt.set(cluster, Math.max(at, this.#lastChangeAt.get(cluster) ?? 0));
    if (namespace === 'default' && name === 'kubernetes') return;
    const service = message.facts.find((fact) => fact.kind === 'service')?.service ?? null;
    const joined = this.#join(key, service === null ? undefined : this.#nameByLabel(message.key, service));
    const change = reduceChange(message, (one) => joined.share(one));
    const applied = this.#states.apply(key, change, now);
    if (applied === undefined) return;
    const { state, changes } = applied;
    if (isGone(state)) this.#leave(key);
    else if (changes.some(isVisible)) joined.set(key, state, at || now);
  }

  /** When the last Change of a cluster was observed, in milliseconds since the Unix epoch; 0: unknown. */
  lastChangeAt(cluster: string): number {
    return this.#lastChangeAt.get(cluster) ?? 0;
  }

  /** Identities of the clusters of which anything is known. */
  get clusters(): Iterable<string> {
    return this.#lastChangeAt.keys();
  }

  get(namespace: string, name: string): LogicalService | undefined {
    return this.#services.get(`${namespace}/${name}`);
  }

  /** Name under which a Service of a cluster is joined, in its own namespace; undefined: it is not. */
  nameOf(key: ServiceKey): string | undefined {
    return this.#joined.get(formatServiceKey(key))?.name;
  }

  /** In the order in which they appeared. */
  get all(): Iterable<LogicalService> {
    return this.#services.values();
  }

  /** Number of logical Services. */
  get size(): number {
    return this.#services.size;
  }

  #nameByLabel({ service }: ServiceKey, { labels }: ServiceSpec): string {
    const label = this.#nameLabel === undefined ? undefined : labels[this.#nameLabel];
    return label || service;
  }

  /** The logical Service of a Service; without a name, the one that it was last part of. */
  #join(key: string, name: string | undefined): JoinedService {
    const { namespace, service } = parseServiceKey(key);
    const before = this.#joined.get(key);
    if (before !== undefined && (name === undefined || name === before.name)) return before;
    this.#leave(key);
    const full = `${namespace}/${name ?? service}`;
    const joined = this.#services.get(full) ?? new JoinedService(namespace, name ?? service);
    this.#services.set(full, joined);
    this.#joined.set(key, joined);
    return joined;
  }

  #leave(key: string): void {
    const joined = this.#joined.get(key);
    this.#joined.delete(key);
    joined?.delete(key);
    if (joined?.isEmpty) this.#services.delete(`${joined.namespace}/${joined.name}`);
  }
}

const isGone = ({ service, slices }: ServiceState): boolean => (service?.service ?? null) === null && slices.size === 0;

/** Every Change moves the stamp of the snapshot. */
const isVisible = (change: FieldChange): boolean =>
  change.kind !== 'snapshot' || change.before?.complete !== change.after?.complete;

class JoinedService implements LogicalService {
  readonly namespace: string;
  readonly name: string;
  version = 0;
  specsChangedAt = 0;
  readonly #members = new Map<string, ServiceState>();
  readonly #specs = new SharedSpecs();

  constructor(namespace: string, name: string) {
    this.namespace = namespace;
    this.name = name;
  }

  get members(): Iterable<ServiceState> {
    return this.#members.values();
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  set(key: string, state: ServiceState, at: number): void {
    this.version++;
    const before = this.#members.get(key)?.service?.service;
    if (before !== state.service?.service) this.specsChangedAt = Math.max(this.specsChangedAt, at);
    this.#members.set(key, state);
  }

  delete(key: string): void {
    if (this.#members.delete(key)) this.version++;
  }

  share(service: ServiceSpec): ServiceSpec {
    return this.#specs.share(specOf(service));
  }
}
