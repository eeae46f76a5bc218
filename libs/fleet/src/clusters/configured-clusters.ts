import { errorMessage, type Logger } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type { ClusterCandidate, ClusterSource, InvalidCluster, SourceReading } from './cluster-source.ts';

/** What the sources list by now. */
interface Listing {
  /** Candidates by name, each name once. */
  readonly byName: ReadonlyMap<string, ClusterCandidate>;
  /** Whether a candidate is missing only because its source has a problem. */
  readonly isUnreadable: (candidate: ClusterCandidate) => boolean;
}

/** The clusters that all sources list. Logs each entry that cannot be used once. */
export class ConfiguredClusters {
  readonly #sources: readonly ClusterSource[];
  readonly #logger: Logger;
  readonly #readings = new Map<ClusterSource, SourceReading>();
  #duplicates: readonly InvalidCluster[] = [];

  constructor(sources: readonly ClusterSource[], logger: Logger) {
    this.#sources = sources;
    this.#logger = logger;
  }

  /** Whether each source was read. */
  get complete(): boolean {
    return this.#readings.size === this.#sources.length;
  }

  /** What each source is that was read and whose entries can all be used: it lists no other cluster. */
  get readable(): ReadonlySet<string> {
    const readable = [...this.#readings].filter(([, { problems }]) => problems.length === 0);
    return new Set(readable.map(([{ about }]) => about));
  }

  /** Entries that cannot be used as a cluster, and those whose name is taken. */
  get invalid(): readonly InvalidCluster[] {
    return [...this.#problems, ...this.#duplicates];
  }

  /** Reads a source. If it cannot be read, its clusters stay: missing information removes nothing. */
  async read(source: ClusterSource, signal: AbortSignal): Promise<void> {
    try {
      const reading = await source.read(signal);
      const known = new Set(this.#readings.get(source)?.problems.map(({ name, reason }) => `${name} ${reason}`));
      this.#report(reading.problems.filter(({ name, reason }) => !known.has(`${name} ${reason}`)));
      this.#readings.set(source, reading);
    } catch (error) {
      if (signal.aborted) return;
      this.#logger.warn('cannot read a cluster source; keeping known clusters', {
        source: source.about,
        reason: errorMessage(error),
      });
    }
  }

  /** @param holderOf the candidate that has a name now, and keeps it */
  list(holderOf: (name: string) => ClusterCandidate | undefined): Listing {
    const candidates = [...this.#readings].flatMap(([{ about: source }, { candidates }]) =>
      candidates.map((candidate) => ({ ...candidate, source })),
    );
    const isUnreadable = unreadableCandidates(this.#problems);
    const { byName, duplicates } = uniqueNames(candidates, holderOf, isUnreadable);
    this.#report(duplicates.filter(({ from }) => !this.#duplicates.some((other) => other.from === from)));
    this.#duplicates = duplicates;
    return { byName, isUnreadable };
  }

  get #problems(): readonly InvalidCluster[] {
    return [...this.#readings.values()].flatMap(({ problems }) => problems);
  }

  #report(invalid: readonly InvalidCluster[]): void {
    for (const { name, from, reason } of invalid)
      this.#logger.error('invalid cluster configuration', { name, from, reason });
  }
}

/** Time limit for sources and clusters to respond, in milliseconds. */
export const timeoutMs = 35_000;

/**
 * The names in these sources, also those of clusters that cannot be used.
 *
 * @throws UsageError which source cannot be read: it may list the cluster
 */
export async function configuredNames(sources: readonly ClusterSource[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const source of sources) {
    const { candidates, problems } = await source.read(AbortSignal.timeout(timeoutMs)).catch((error: unknown) => {
      throw new UsageError(`cannot read ${source.about}: ${errorMessage(error)}`, { cause: error });
    });
    for (const { name } of [...candidates, ...problems]) names.add(name);
  }
  return names;
}

/** Candidates by name, each name once. */
interface UniqueNames {
  readonly byName: ReadonlyMap<string, ClusterCandidate>;
  /** Candidates whose name is already taken. */
  readonly duplicates: readonly InvalidCluster[];
}

/**
 * Chooses one candidate per name. The current holder of a name keeps it, also while its source is unreadable.
 *
 * @param holderOf the current holder of a name
 */
function uniqueNames(
  candidates: readonly ClusterCandidate[],
  holderOf: (name: string) => ClusterCandidate | undefined,
  isUnreadable: (candidate: ClusterCandidate) => boolean,
): UniqueNames {
  const byName = new Map<string, ClusterCandidate>();
  const duplicates: InvalidCluster[] = [];
  for (const [name, sameName] of Map.groupBy(candidates, (candidate) => candidate.name)) {
    const holder = holderOf(name);
    const holds = ({ from }: ClusterCandidate) => from === holder?.from;
    const first = sameName.find(holds) ?? (holder && isUnreadable(holder) ? holder : sameName[0]);
    if (first === undefined) continue;
    byName.set(name, first);
    const reason = `${first.from} has the same name: rename one of them`;
    const others = sameName.filter(({ from }) => from !== first.from);
    duplicates.push(...others.map(({ from }) => ({ name, from, reason })));
  }
  return { byName, duplicates };
}

/**
 * Matches the candidates from sources with problems. A half-written file or an invalid Secret must not remove a
 * cluster.
 */
function unreadableCandidates(
  problems: readonly Pick<InvalidCluster, 'from'>[],
): (candidate: ClusterCandidate) => boolean {
  const unreadable = new Set(problems.map(({ from }) => from));
  return ({ from }) => unreadable.has(from.replace(/, context .*$/, ''));
}
