import type { OpenInfrastructure } from '@sluice/backends';
import type { StreamOffset } from '@sluice/bus';
import type { Clock, Logger } from '@sluice/runtime';
import { sleep } from '@sluice/runtime';
import type { Checkpoint } from '@sluice/store';
import type { ClusterView, ConsoleSources, DeadLetterView, ParkedView, PartitionView } from '../ports.ts';
import { findParked } from './parked-key.ts';
import { remembered } from './remembered.ts';

type Fleet = Pick<OpenInfrastructure, 'bus' | 'store' | 'leases' | 'deadLetters' | 'directory'>;

interface Ports {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long answers serve: many may look, and parked keys are found by reading all views. */
const [partitionsMs, lettersMs, parkedMs] = [1_000, 1_000, 10_000] as const;
/** Between looks at the clusters of the fleet. A console that starts with its fleet sees it come. */
const [clustersMs, clustersAtFirstMs, atFirstMs] = [5_000, 250, 30_000] as const;

/** What a console tells of a fleet besides its history. It only looks: nothing is claimed, committed or written. */
export class FleetSources implements ConsoleSources {
  readonly partitions: () => Promise<readonly PartitionView[]>;
  readonly parked: () => Promise<readonly ParkedView[]>;
  readonly deadLetters: () => Promise<readonly DeadLetterView[]>;
  readonly trace: ConsoleSources['trace'];
  readonly #fleet: Fleet;
  readonly #ports: Ports;
  #clusters: readonly ClusterView[] = [];

  constructor(fleet: Fleet, ports: Ports, trace?: ConsoleSources['trace']) {
    this.trace = trace;
    this.#fleet = fleet;
    this.#ports = ports;
    const { clock } = ports;
    this.partitions = remembered(clock, partitionsMs, () => partitions(fleet));
    this.parked = remembered(clock, parkedMs, () => parked(fleet));
    this.deadLetters = remembered(clock, lettersMs, () => deadLetters(fleet));
  }

  /** As they were at the last look. */
  clusters(): readonly ClusterView[] {
    return this.#clusters;
  }

  /** Looks at the clusters once. */
  async look(): Promise<void> {
    const { directory, leases } = this.#fleet;
    const known = await directory.list();
    this.#clusters = await Promise.all(
      known.map(async (cluster) => {
        const { leases: held } = await leases.state(`watcher/${cluster.identity}`);
        const [lease] = held;
        if (lease === undefined) return { ...cluster, state: 'not watched' };
        return { ...cluster, state: 'watched', watcher: { owner: lease.holder, epoch: lease.fencingToken } };
      }),
    );
  }

  /** Looks again and again until `signal` aborts. A store that is away leaves what was seen last. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const settledAt = clock.monotonic() + atFirstMs;
    while (!signal.aborted) {
      try {
        await this.look();
      } catch (error) {
        this.#ports.logger.debug('cannot list the clusters of the fleet', { error });
      }
      await sleep(clock, clock.monotonic() < settledAt ? clustersAtFirstMs : clustersMs, signal);
    }
  }
}

async function partitions(fleet: Fleet): Promise<readonly PartitionView[]> {
  const [reconcilers, writers] = await Promise.all([shares(fleet, 'reconciler'), shares(fleet, 'writer')]);
  return reconcilers.map((share, partition) => ({
    ...{ partition, ...share },
    writer: writers[partition] ?? { owner: '', epoch: 0, lag: null },
  }));
}

/** Of each partition, who works on it in that role, and what is left to do. */
async function shares({ bus, store, leases }: Fleet, role: 'reconciler' | 'writer') {
  const { leases: held } = await leases.state(role);
  const owners = new Map(held.map((lease) => [lease.scope, lease]));
  return Promise.all(
    Array.from({ length: bus.partitions }, async (_, partition) => {
      const [checkpoint, end] = await Promise.all([
        store.checkpoint(`${role}/${partition}`),
        bus.end(role === 'reconciler' ? 'changes' : 'mutations', partition),
      ]);
      const { holder = '', fencingToken = 0 } = owners.get(String(partition)) ?? {};
      return { owner: holder, epoch: fencingToken, lag: lagOf(checkpoint, end) };
    }),
  );
}

/** Null: nothing was committed yet, or the log has been made anew since. */
function lagOf(checkpoint: Checkpoint | null, end: StreamOffset): number | null {
  if (end.offset === 0) return 0;
  if (
    checkpoint === null ||
    (checkpoint.streamId !== end.streamId && checkpoint.streamId !== '' && end.streamId !== '')
  )
    return null;
  return Math.max(0, end.offset - checkpoint.offset);
}

async function parked({ store, bus }: Fleet): Promise<readonly ParkedView[]> {
  const keys = await findParked(store, bus.partitions);
  return keys.map(({ key, controller, reason, since, nextTryAt }) => {
    const { cluster, namespace, service: name } = key;
    return { cluster, namespace, name, controller, message: reason, since, nextTryAt };
  });
}

async function deadLetters({ deadLetters }: Fleet): Promise<readonly DeadLetterView[]> {
  const letters = await deadLetters.list();
  return letters.map(({ name, topic, record, reason, deadLetteredAt }) => ({
    name,
    topic,
    key: record.key,
    reason,
    at: deadLetteredAt,
  }));
}
