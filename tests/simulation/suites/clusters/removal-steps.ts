import type { Bus } from '@sluice/bus';
import { type Random, randomInteger } from '@sluice/platform';
import type { ClusterDirectory, Leases, Store, StoredDocument } from '@sluice/store';
import type { SimulatedProcess } from '../../doubles/simulated-process.ts';

/** At which step a process ends: before it takes effect, or before its answer arrives. Or it freezes then, for a while. */
export interface Interruption {
  /** The first one is 1. */
  readonly step: number;
  readonly how: 'ends before' | 'ends after' | 'freezes after';
}

/** A removal has as many steps, or some more. */
const mostSteps = 14;
const ways = ['ends before', 'ends after', 'freezes after'] as const;

export function interruptionOf(random: Random): Interruption {
  const how = ways[Math.floor(random.next() * ways.length)] ?? 'ends after';
  return { step: randomInteger(random, 1, mostSteps), how };
}

/** A process that takes part in the removal of a cluster. */
export interface Remover {
  readonly name: string;
  readonly process: SimulatedProcess;
}

/** The removal of a cluster. */
interface Removal {
  readonly name: string;
  readonly identity: string;
  readonly interruption: Interruption | undefined;
  /** Whose steps count. Default: those of all processes. */
  readonly only: SimulatedProcess | undefined;
  steps: number;
}

interface StepObserver {
  readonly onStep: (remover: Remover, step: string) => void;
  /** The entry of a cluster is about to be removed. */
  readonly onRemove: (remover: Remover, identity: string) => void;
  readonly onEnd: (process: SimulatedProcess) => void;
  readonly onFreeze: (process: SimulatedProcess) => void;
}

/** Changes of bus and store that belong to the removal of a cluster, in their order. A process can be interrupted at each of them. */
export class RemovalSteps {
  readonly #observer: StepObserver;
  #removal: Removal | undefined;

  constructor(observer: StepObserver) {
    this.#observer = observer;
  }

  /** Steps since the removal began. */
  get count(): number {
    return this.#removal?.steps ?? 0;
  }

  /** From now on, steps are counted. */
  begin(name: string, identity: string, interruption?: Interruption, only?: SimulatedProcess): void {
    this.#removal = { name, identity, interruption, only, steps: 0 };
  }

  bus(remover: Remover, bus: Bus): Bus {
    return {
      partitions: bus.partitions,
      limits: bus.limits,
      append: (topic, partition, records) => {
        const isAbout = ({ identity }: Removal) => records.some(({ key }) => key === identity);
        return this.#run(remover, `append ${topic}/${partition}`, isAbout, () => bus.append(topic, partition, records));
      },
      read: (...args) => bus.read(...args),
      beginning: (...args) => bus.beginning(...args),
      end: (...args) => bus.end(...args),
      close: () => bus.close(),
    };
  }

  store(remover: Remover, store: Store): Store {
    const isScope = (scope: string) => (removal: Removal) => scope === `watcher/${removal.identity}`;
    return {
      claim: (scope, token) => this.#run(remover, `claim ${scope}`, isScope(scope), () => store.claim(scope, token)),
      commit: (commit) => {
        const { scope, entries } = commit;
        const drops = ({ identity }: Removal) =>
          entries.some(({ key, value }) => value === undefined && key.split('/', 1)[0] === identity);
        const isAbout = (removal: Removal) => isScope(scope)(removal) || drops(removal);
        return this.#run(remover, `commit ${scope}`, isAbout, () => store.commit(commit));
      },
      find: (...args) => store.find(...args),
      setIfAbsent: (...args) => store.setIfAbsent(...args),
      checkpoint: (...args) => store.checkpoint(...args),
    };
  }

  leases(remover: Remover, leases: Leases): Leases {
    return {
      heartbeat: (heartbeat) => {
        const { group, acquire, release } = heartbeat;
        const isAbout = ({ identity }: Removal) => acquire.includes(identity) || release.includes(identity);
        return this.#run(remover, `lease in ${group}`, isAbout, () => leases.heartbeat(heartbeat));
      },
      leave: (group, member) => {
        const isAbout = () => group === 'watcher' && member !== remover.name;
        return this.#run(remover, `leave ${group}`, isAbout, () => leases.leave(group, member));
      },
      state: (group) => leases.state(group),
      watch: (...args) => leases.watch(...args),
    };
  }

  directory(remover: Remover, directory: ClusterDirectory): ClusterDirectory {
    const isAbout = (identity: string) => (removal: Removal) => identity.includes(removal.identity);
    return {
      put: (cluster) =>
        this.#run(
          remover,
          `put ${cluster.identity} into the directory`,
          (removal) => cluster.name === removal.name,
          () => directory.put(cluster),
        ),
      setPaused: (identity, reason) =>
        this.#run(remover, `set paused ${identity}`, isAbout(identity), () => directory.setPaused(identity, reason)),
      remove: (identity) =>
        this.#run(
          remover,
          `remove ${identity} from the directory`,
          (removal) => isAbout(identity)(removal) || identity.endsWith(`/${removal.name}`),
          () => {
            this.#observer.onRemove(remover, identity);
            return directory.remove(identity);
          },
        ),
      list: () => directory.list(),
    };
  }

  pins(remover: Remover, pins: StoredDocument): StoredDocument {
    return {
      read: () => pins.read(),
      replace: (expected, next) =>
        this.#run(
          remover,
          'replace the pins',
          () => true,
          () => pins.replace(expected, next),
        ),
    };
  }

  async #run<T>(
    remover: Remover,
    what: string,
    isAbout: (removal: Removal) => boolean,
    act: () => Promise<T>,
  ): Promise<T> {
    const removal = this.#removal;
    const { process } = remover;
    if (removal === undefined || !isAbout(removal) || (removal.only ?? process) !== process) return act();
    removal.steps += 1;
    const { step, how } = removal.interruption ?? {};
    const interrupted = step === removal.steps ? how : undefined;
    const { onStep, onEnd, onFreeze } = this.#observer;
    onStep(
      remover,
      `step ${removal.steps}: ${what}${interrupted === undefined ? '' : `; the process ${interrupted} it`}`,
    );
    const end = () => {
      process.kill();
      onEnd(process);
    };
    if (interrupted === 'ends before') {
      end();
      return new Promise(() => {});
    }
    const result = await act();
    if (interrupted === 'ends after') end();
    if (interrupted === 'freezes after') onFreeze(process);
    return result;
  }
}
