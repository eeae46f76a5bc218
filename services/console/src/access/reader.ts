import type { AccessDecisions, Decision, Token } from './access-decisions.ts';

/** A namespace of a cluster, by its identity. */
export interface Place {
  readonly cluster: string;
  readonly namespace: string;
}

interface ReaderOptions {
  readonly decisions: AccessDecisions;
  readonly token: Token;
  /** Identities of the clusters of which there may be data; empty for one that was never connected. */
  readonly clusters: () => readonly string[];
}

/** What one reader may see in one request. What has not been decided is not visible, so that a forgotten check shows nothing. */
export class Reader {
  readonly #options: ReaderOptions;
  readonly #clusters = new Map<string, Decision>();
  readonly #places = new Map<string, Decision>();
  /** Those that accept the token. */
  readonly #known = new Set<string>();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** The same reader in a later request. */
  again(): Reader {
    return new Reader(this.#options);
  }

  /** Whether a cluster accepts the token. If one does, the others are not waited for. */
  async authentication(): Promise<'accepted' | 'rejected' | 'unanswered'> {
    const { decisions, token, clusters } = this.#options;
    const asked = decisions.clusters.map((cluster) => decisions.ofCluster(token, cluster));
    const accepted = asked.map(async (decision) => {
      if (!isAuthenticated(await decision)) throw new Error('not accepted');
    });
    const isAccepted = await Promise.any(accepted).then(
      () => true,
      () => false,
    );
    if (isAccepted) return 'accepted';
    const answers = await Promise.all(asked);
    const isComplete = answers.length > 0 && clusters().every((cluster) => decisions.clusters.includes(cluster));
    return isComplete && answers.every((answer) => answer === 'unauthenticated') ? 'rejected' : 'unanswered';
  }

  /** Decides which clusters are visible as a whole; by default all. */
  async decideClusters(clusters: Iterable<string> = this.clusters): Promise<void> {
    const { decisions, token } = this.#options;
    const decide = async (cluster: string) => {
      const isAsked = decisions.clusters.includes(cluster);
      const decision = isAsked ? await decisions.ofCluster(token, cluster) : this.#ofUnconnected();
      this.#clusters.set(cluster, decision);
      if (isAuthenticated(decision)) this.#known.add(cluster);
    };
    await Promise.all(Array.from(new Set(clusters), decide));
  }

  /** Decides which of these namespaces are visible. */
  async decide(places: Iterable<Place>): Promise<void> {
    const { decisions, token } = this.#options;
    const decide = async ([name, { cluster, namespace }]: [string, Place]) => {
      const isAsked = decisions.clusters.includes(cluster);
      const decision = isAsked ? await decisions.ofNamespace(token, cluster, namespace) : this.#ofUnconnected();
      this.#places.set(name, decision);
      if (isAuthenticated(decision)) this.#known.add(cluster);
    };
    const distinct = new Map(Array.from(places, (place) => [nameOf(place), place]));
    await Promise.all([...distinct].filter(([name]) => !this.#places.has(name)).map(decide));
  }

  /** Undefined if it was not decided. */
  decisionOf({ cluster, namespace }: { readonly cluster: string; readonly namespace?: string }): Decision | undefined {
    const whole = this.#clusters.get(cluster);
    return namespace === undefined || whole === 'allowed' ? whole : this.#places.get(nameOf({ cluster, namespace }));
  }

  sees(place: Place): boolean {
    return this.decisionOf(place) === 'allowed';
  }

  /** Whether all of the cluster is visible: also its Nodes. */
  seesCluster(cluster: string): boolean {
    return this.decisionOf({ cluster }) === 'allowed';
  }

  /** Whether the cluster accepts the token, so that its name and state are visible. */
  knowsCluster(cluster: string): boolean {
    return this.#known.has(cluster);
  }

  /** Whether everything is visible. */
  get seesFleet(): boolean {
    return this.clusters.length > 0 && this.clusters.every((cluster) => this.seesCluster(cluster));
  }

  /** Clusters that are visible as a whole. */
  get wholeClusters(): readonly string[] {
    return [...this.#clusters.keys()].filter((cluster) => this.seesCluster(cluster));
  }

  /** Number of clusters whose data is not visible because it is unknown whether it may be. */
  get unanswered(): number {
    return [...this.#clusters.values()].filter((decision) => decision === 'unanswered').length;
  }

  /** All that there may be data of, by identity. */
  get clusters(): readonly string[] {
    const { decisions, clusters } = this.#options;
    return [...new Set([...decisions.clusters, ...clusters()])];
  }

  /** Of a cluster that cannot be asked. It may be one that was not connected yet. */
  #ofUnconnected(): Decision {
    const { decisions, clusters } = this.#options;
    return clusters().every((cluster) => decisions.clusters.includes(cluster)) ? 'denied' : 'unanswered';
  }
}

const isAuthenticated = (decision: Decision): boolean => decision === 'allowed' || decision === 'denied';
const nameOf = ({ cluster, namespace }: Place): string => `${cluster}/${namespace}`;
