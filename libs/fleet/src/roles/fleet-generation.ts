import { type Clock, type Logger, sleep, untilNextTick } from '@sluice/platform';
import type { Leases, Store, StoredDocument } from '@sluice/store';
import { formatGenerations, type PartitionGenerations, parseGenerations, storedName } from './generations.ts';

interface GenerationPorts {
  readonly document: StoredDocument;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often a process looks for a new generation, and for the end of former ones, in milliseconds. */
const pollMs = { next: 1_000, former: 100 };

/** A process that waits longer for the end of a former generation reports who holds leases of it, in milliseconds. */
const patienceMs = 10_000;

/** Longer than a process takes to stop. After that, leases of a former generation are revoked, in milliseconds. */
const revokeAfterMs = 60_000;

/** The generation of partitions in which a process works (ADR 0075). */
export class FleetGeneration {
  readonly all: PartitionGenerations;
  readonly #ports: GenerationPorts;
  readonly #ended = new AbortController();
  #check: Promise<boolean> | undefined;

  constructor(all: PartitionGenerations, ports: GenerationPorts) {
    this.all = all;
    this.#ports = ports;
  }

  get number(): number {
    return this.all.length - 1;
  }

  get partitions(): number {
    return this.all[this.number]?.partitions ?? this.all[0].partitions;
  }

  /** Whether the fleet still works in this generation. Calls in one turn of the event loop share a read, which follows them. */
  isCurrent(): Promise<boolean> {
    this.#check ??= Promise.resolve().then(() => {
      this.#check = undefined;
      return this.#read();
    });
    return this.#check;
  }

  /** Resolves once the fleet works in another generation, or when `signal` aborts. */
  async superseded(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#ports;
    const done = AbortSignal.any([signal, this.#ended.signal]);
    while (!done.aborted) {
      await sleep(clock, untilNextTick(clock, pollMs.next), done);
      if (done.aborted) break;
      try {
        await this.#read();
      } catch (error) {
        logger.debug('cannot read the partitions of the fleet', { error });
      }
    }
    if (signal.aborted) return;
    logger.info('partition count of the fleet changed; restarting with the new count', { from: this.partitions });
  }

  /**
   * Resolves once no process holds a lease of the group in a former generation, or when `signal` aborts. A process that
   * does not release its leases loses them. If it acquires one again, it finds that the generation has ended.
   *
   * @param ttlMs how long a lease is valid after its last renewal
   */
  async formerReleased(group: string, ttlMs: number, signal: AbortSignal): Promise<void> {
    const { leases, clock, logger } = this.#ports;
    const since = clock.monotonic();
    let reported = false;
    for (let former = 0; former < this.number && !signal.aborted; ) {
      const name = storedName(group, former);
      try {
        const held = (await leases.state(name)).leases;
        if (held.length === 0) {
          former++;
          continue;
        }
        const waitedMs = clock.monotonic() - since;
        const members = [...new Set(held.map(({ holder }) => holder))];
        const holders = members.join(',');
        if (waitedMs >= revokeAfterMs) {
          logger.warn('processes did not release leases of former partitions; revoking them', { group, holders });
          for (const member of members) await leases.leave(name, member);
          await sleep(clock, ttlMs, signal);
          former++;
        } else if (!reported && waitedMs >= patienceMs) {
          reported = true;
          logger.warn('processes still hold leases of former partitions; waiting for them', { group, holders });
        }
      } catch (error) {
        logger.debug('cannot read the leases of a former generation', { group, error });
      }
      await sleep(clock, pollMs.former, signal);
    }
  }

  async #read(): Promise<boolean> {
    const { document } = this.#ports;
    const own = formatGenerations(this.all);
    let stored = await document.read();
    // The store was wiped. Its partitions are those of the process that notices first.
    if (stored === null) stored = (await document.replace(null, own)) ? own : await document.read();
    if (stored !== own) this.#ended.abort();
    return stored === own;
  }
}

/** Reads the generations of a fleet. A new fleet begins with `partitions`. */
export async function readGenerations(document: StoredDocument, partitions: number): Promise<PartitionGenerations> {
  const first: PartitionGenerations = [{ partitions, since: 0 }];
  for (;;) {
    const stored = await document.read();
    if (stored !== null) return parseGenerations(stored);
    if (await document.replace(null, formatGenerations(first))) return first;
  }
}

/** The store as a generation sees it: its scopes have names of their own. */
export function storeOf(store: Store, generation: number): Store {
  if (generation === 0) return store;
  const name = (scope: string) => storedName(scope, generation);
  return {
    claim: (scope, fencingToken) => store.claim(name(scope), fencingToken),
    commit: (commit) => store.commit({ ...commit, scope: name(commit.scope) }),
    find: (scope, prefix) => store.find(name(scope), prefix),
    checkpoint: (scope) => store.checkpoint(name(scope)),
    setIfAbsent: (key, value) => store.setIfAbsent(key, value),
  };
}

/** The leases as a generation sees them: its groups have names of their own. */
export function leasesOf(leases: Leases, generation: number): Leases {
  if (generation === 0) return leases;
  const name = (group: string) => storedName(group, generation);
  const { keepAlive } = leases;
  return {
    heartbeat: (heartbeat) => leases.heartbeat({ ...heartbeat, group: name(heartbeat.group) }),
    leave: (group, member) => leases.leave(name(group), member),
    watch: (group, onChange) => leases.watch(name(group), onChange),
    state: (group) => leases.state(name(group)),
    ...(keepAlive && { keepAlive: (options) => keepAlive({ ...options, group: name(options.group) }) }),
  };
}
