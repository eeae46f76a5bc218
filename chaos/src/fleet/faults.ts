import { setTimeout as sleep } from 'node:timers/promises';
import type { Direction } from '@sluice/local';
import { type Random, randomInteger, seededRandom } from '@sluice/platform';
import type { PlanObserver } from '../observe/plan-observer.ts';
import type { Action, Kind } from '../schedule.ts';
import { BusFaults } from './bus-faults.ts';
import type { RoleProcess } from './role-process.ts';
import { emptyDisk, type Servers } from './server-node.ts';
import type { Fleet } from './start-fleet.ts';
import { StoreFaults } from './store-faults.ts';
import { exclusively, type Target } from './target.ts';

const freezeMs = 4_000;
const graceMs = 20_000;
/** From shorter than a lease to longer than any request may take to be noticed as lost. */
const blockedMs = [500, 8_000] as const;
const steppedMs = [1_000, 6_000] as const;
const minute = 60_000;
/** Within this time after another fault is over, each plan that a worker has delivered is in the log. */
const lingerMs = 5_000;
const fullMs = [2_000, 6_000] as const;

export interface FaultOptions {
  readonly fleet: Fleet;
  readonly observer: PlanObserver;
  /** Called before the store is wiped. */
  readonly onWipe: () => void;
  /** Called when a process does not exit within 20 s of SIGTERM. */
  readonly onLate: (name: string) => void;
}

/** Injects the faults of a schedule. Each fault is over when its promise resolves. */
export class Faults {
  readonly #options: FaultOptions;
  readonly #bus: BusFaults;
  readonly #store: StoreFaults;

  constructor(options: FaultOptions) {
    const { fleet, observer } = options;
    this.#options = options;
    this.#bus = new BusFaults(fleet, observer);
    this.#store = new StoreFaults(fleet.store);
  }

  /** Resolves when the action is complete: a killed process runs again, a frozen one has resumed. */
  perform({ kind, target: name, random: seed }: Action, begun: () => void): Promise<void> {
    const random = seededRandom(Math.floor(seed * 2 ** 31));
    const targets = this.#targets(name);
    const isAlone = this.#mustBeAlone(targets);
    const { fleet, observer } = this.#options;
    if (isAlone) targets.push(...this.#targets('bus'), ...fleet.roles.map((role) => role.target));
    const [first] = targets;
    if (first === undefined) throw new RangeError(`unknown process ${name}`);
    return exclusively(targets, async () => {
      if (isAlone) {
        await sleep(lingerMs);
        await observer.caughtUp();
      }
      begun();
      await this.#inject(kind, first, random);
    });
  }

  /**
   * Whether no other fault may be in progress. For up to half a second, only the store has a plan that a worker has applied
   * (ADR 0070). If the bus or the worker fails then, and the store before the next owner has appended the plan, no log has it.
   */
  #mustBeAlone(targets: readonly Target[]): boolean {
    const { store, roles } = this.#options.fleet;
    const hasWorkers = roles.some(({ role }) => role === 'worker');
    return hasWorkers && store.nodes.some(({ target }) => targets.includes(target));
  }

  /** Takes a snapshot of the store to restore later. */
  takeSnapshot(): Promise<void> {
    return exclusively(this.#targets('store'), () => this.#store.takeSnapshot());
  }

  /** The process of this name, or all servers of a kind. */
  #targets(name: string): Target[] {
    const { targets, bus, store } = this.#options.fleet;
    const one = targets.get(name);
    if (one !== undefined) return [one];
    const servers: Readonly<Record<string, Servers>> = { bus, store };
    return servers[name]?.nodes.map(({ target }) => target) ?? [];
  }

  async #inject(kind: Kind, target: Target, random: Random): Promise<void> {
    switch (kind) {
      case 'wipe store':
        this.#options.onWipe();
        return this.#store.wipe();
      case 'restore snapshot store':
        return this.#store.restoreSnapshot();
      case 'fail over store':
        return this.#options.fleet.store.failOver();
      case 'purge bus':
        return this.#bus.purge(random);
      case 'lose last records bus':
        return this.#bus.loseLastRecords(random);
      case 'outlast duplicate window bus':
        return this.#bus.outlastDuplicateWindow();
      case 'change leaders bus':
        return this.#bus.changeLeaders(random);
    }
    switch (kind.slice(0, kind.lastIndexOf(' '))) {
      case 'kill':
        return this.#kill(target, randomInteger(random, 200, 1_500));
      case 'freeze':
        return this.#freeze(target);
      case 'restart':
        return this.#restart(target);
      case 'block requests':
        return this.#block(this.#role(target), 'requests', random);
      case 'block responses':
        return this.#block(this.#role(target), 'responses', random);
      case 'change version':
        this.#role(target).changeVersion();
        return this.#restart(target);
      case 'step clock':
        return this.#stepClock(this.#role(target), random);
      case 'fill disk':
        return this.#fillDisk(target, randomInteger(random, ...fullMs));
    }
    throw new RangeError(`unknown action ${kind}`);
  }

  async #kill(target: Target, awayMs: number): Promise<void> {
    await target.process.kill();
    await sleep(awayMs);
    await target.start();
  }

  async #freeze(target: Target): Promise<void> {
    target.pause();
    await sleep(freezeMs);
    target.resume();
  }

  async #restart(target: Target): Promise<void> {
    if (!(await target.stop(graceMs))) this.#options.onLate(target.name);
    await target.start();
  }

  /** One direction of all connections between the process and the bus, the store or one cluster. */
  async #block({ links }: RoleProcess, direction: Direction, random: Random): Promise<void> {
    const { network } = this.#options.fleet;
    const peers = [...links.values()];
    const blocked = peers[randomInteger(random, 0, peers.length - 1)] ?? [];
    network.block(blocked, direction);
    await sleep(randomInteger(random, ...blockedMs));
    network.unblock(blocked, direction);
  }

  /** By seconds to hours, forwards or backwards, and later back. */
  async #stepClock(process: RoleProcess, random: Random): Promise<void> {
    const [least = 0, most = 0] = random.next() < 0.5 ? [2_000, minute] : [minute, 180 * minute];
    process.setClock(randomInteger(random, least, most) * (random.next() < 0.5 ? 1 : -1));
    await sleep(randomInteger(random, ...steppedMs));
    process.setClock(0);
  }

  /** NATS and Kafka stop using a disk that was full until they are restarted. A replica of Redis exits, a master does not. */
  async #fillDisk(target: Target, forMs: number): Promise<void> {
    const { bus, store } = this.#options.fleet;
    const disk = [...bus.nodes, ...store.nodes].find((node) => node.target === target)?.disk;
    if (disk === undefined) throw new RangeError(`${target.name} has no disk of its own`);
    disk.fill();
    await sleep(forMs);
    emptyDisk(disk);
    if (bus.nodes.some((node) => node.target === target)) await target.process.kill();
    if (!target.process.running) await target.start();
  }

  #role(target: Target): RoleProcess {
    const process = this.#options.fleet.roles.find((role) => role.target === target);
    if (process === undefined) throw new RangeError(`${target.name} is not a process of the fleet`);
    return process;
  }
}
