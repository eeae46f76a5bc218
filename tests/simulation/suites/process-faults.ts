import { type Random, randomInteger, type VirtualClock } from '@sluice/platform';
import { SimulatedProcess } from '../doubles/simulated-process.ts';
import { type LinkFaults, noLinkFaults } from './faulty-connection.ts';
import type { processKinds } from './suite-kinds.ts';

/** A process of a suite. */
export interface FaultyProcess {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly faults: LinkFaults;
  stop(): void;
}

interface ProcessFaultsOptions<P extends FaultyProcess> {
  readonly clock: VirtualClock;
  /** The process that something happens to. */
  readonly choose: (random: Random) => P | undefined;
  /** Starts another one in place of a process that was killed. */
  readonly replace: (killed: P) => void;
}

type Events = Readonly<Record<(typeof processKinds)[number], (random: Random) => string | undefined>>;

export const longestFaultMs = 25_000;
/** How far clocks of machines are apart at most, in milliseconds. */
export const mostSkewMs = 3_600_000;
/** A pause so soon after the clock was set back does not show in the difference of the clocks, in milliseconds. */
const pauseAfterMs = 15_000;

/** What happens to the processes of a suite, their machines and their connections. */
export class ProcessFaults<P extends FaultyProcess> {
  readonly #options: ProcessFaultsOptions<P>;
  /** When the clock of a machine was last set back. */
  readonly #setBackAt = new WeakMap<P, number>();

  constructor(options: ProcessFaultsOptions<P>) {
    this.#options = options;
  }

  readonly events: Events = {
    'process is killed': (random) =>
      this.withOne(random, (one) => {
        one.process.kill();
        this.#options.replace(one);
        return one.name;
      }),
    'process stops': (random) =>
      this.withOne(random, (one) => {
        one.stop();
        return one.name;
      }),
    'process freezes': (random) => this.#standStill(random, 'freeze'),
    'machine pauses': (random) => this.#standStill(random, 'pause'),
    'clock is set': (random) =>
      this.withOne(random, (one) => {
        // While a machine is paused, nothing tells a clock that is set back from a shorter pause.
        if (one.process.isFrozen) return undefined;
        const ms = randomInteger(random, 0, 60_000) - 30_000;
        if (!one.process.stepClock(ms)) return undefined;
        if (ms < 0) this.#setBackAt.set(one, this.#options.clock.now());
        return `${one.name} by ${ms} ms`;
      }),
    'link is cut': (random) => this.#forAWhile(random, { cut: random.next() < 0.5 ? 'requests' : 'answers' }),
    'link is slow': (random) => this.#forAWhile(random, { latencyMs: randomInteger(random, 100, 6_000) }),
    'requests wait': (random) => this.#forAWhile(random, { waitMs: randomInteger(random, 100, 20_000) }),
    'requests fail': (random) => this.#forAWhile(random, { fails: 0.2 + 0.7 * random.next() }),
    'requests are late': (random) => this.#forAWhile(random, { late: 0.2 + 0.7 * random.next() }),
    'wrong answers': (random) => this.#forAWhile(random, { wrong: 0.2 + 0.7 * random.next() }),
  };

  withOne(random: Random, act: (one: P) => string | undefined): string | undefined {
    const chosen = this.#options.choose(random);
    return chosen && act(chosen);
  }

  #standStill(random: Random, how: 'freeze' | 'pause'): string | undefined {
    return this.withOne(random, (one) => {
      const { clock } = this.#options;
      const setBackAt = this.#setBackAt.get(one) ?? Number.NEGATIVE_INFINITY;
      if (how === 'pause' && clock.now() - setBackAt < pauseAfterMs) return undefined;
      if (one.process[how]() === false) return undefined;
      const forMs = randomInteger(random, 100, longestFaultMs);
      clock.schedule(forMs, () => one.process.thaw());
      return `${one.name} for ${forMs} ms`;
    });
  }

  #forAWhile(random: Random, faults: Partial<LinkFaults>): string | undefined {
    return this.withOne(random, (one) => {
      Object.assign(one.faults, faults);
      const forMs = randomInteger(random, 100, longestFaultMs);
      this.#options.clock.schedule(forMs, () => Object.assign(one.faults, noLinkFaults));
      return `${one.name} for ${forMs} ms: ${JSON.stringify(faults)}`;
    });
  }
}

/** A process on a machine whose clock is wrong. */
export function skewedProcess(clock: VirtualClock, random: Random): SimulatedProcess {
  const originMs = randomInteger(random, 0, mostSkewMs);
  const process = new SimulatedProcess({ clock, originMs, random, onCall: () => {} });
  process.stepClock(randomInteger(random, -mostSkewMs, mostSkewMs));
  return process;
}

/** Ends what happens to these processes. */
export function healProcesses(processes: Iterable<FaultyProcess>): void {
  for (const { process, faults } of processes) {
    process.thaw();
    Object.assign(faults, noLinkFaults);
  }
}
