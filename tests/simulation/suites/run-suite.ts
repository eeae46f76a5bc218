import { type LogFields, type Logger, seededRandom, type VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { formatFields } from '../describe.ts';
import type { Scenario } from '../scenario.ts';
import { loadedLua } from '../start-servers.ts';
import { Timeline, type TimelineEntry } from '../timeline.ts';
import { type Violation, Violations } from '../violations.ts';
import { ClaimWorld } from './claims/claim-world.ts';
import { ClusterWorld } from './clusters/cluster-world.ts';
import { ElectionWorld } from './election/election-world.ts';
import { PartitionWorld } from './partitions/partition-world.ts';
import { RemovalWorld } from './removals/removal-world.ts';
import type { SuitePorts, SuiteWorld } from './suite.ts';
import type { SuiteName } from './suite-kinds.ts';

/** Time between two comparisons with the model, in milliseconds. */
const tickMs = 100;
/** How long everything must have been right at the end, in milliseconds. */
const calmMs = 20_000;
/** How long a world may take to stop, in milliseconds. */
const stopWithinMs = 60_000;

const worlds: Readonly<Record<SuiteName, (ports: SuitePorts) => SuiteWorld | Promise<SuiteWorld>>> = {
  claims: (ports) => new ClaimWorld(ports),
  clusters: async (ports) => new ClusterWorld(ports, await loadedLua()),
  election: (ports) => new ElectionWorld(ports),
  partitions: async (ports) => new PartitionWorld(ports, await loadedLua()),
  removals: (ports) => new RemovalWorld(ports),
};

export interface SuiteResult {
  readonly violations: readonly Violation[];
  readonly virtualMs: number;
  readonly timeline: readonly TimelineEntry[];
}

/** Runs the events of a scenario in the world of its suite, until its end or the first violation. */
export async function runSuite(
  name: SuiteName,
  { seed, events, activeMs }: Pick<Scenario, 'seed' | 'events' | 'activeMs'>,
  clock: VirtualClock,
  entries: number,
): Promise<SuiteResult> {
  const begin = clock.now();
  const timeline = new Timeline(entries);
  const violations = new Violations(() => clock.now() - begin);
  const note = (actor: string, what: () => string) => {
    const atMs = clock.now() - begin;
    timeline.add(() => ({ atMs, actor, what: what() }));
  };
  const logger = (actor: string) => noting(note, actor);
  const world = await worlds[name]({ clock, random: seededRandom(seed + 1), violations, note, logger });
  const until = async (time: number): Promise<boolean> => {
    while (violations.all.length === 0 && clock.now() < time) {
      await advance(clock, Math.min(tickMs, time - clock.now()));
      world.check();
    }
    return violations.all.length === 0;
  };
  const play = async (): Promise<void> => {
    for (const { atMs, kind, seed } of events) {
      if (!(await until(begin + atMs))) return;
      const what = world.act(kind as never, seededRandom(seed));
      note('fault', () => `${kind}: ${what}`);
    }
    if (!(await until(begin + activeMs))) return;
    world.heal();
    note('fault', () => 'all faults end');
    const healedAt = clock.now();
    for (let calmSince = clock.now(); clock.now() - calmSince < calmMs; ) {
      if (!(await until(clock.now() + tickMs))) return;
      const unfinished = world.unfinished();
      if (unfinished === undefined) continue;
      calmSince = clock.now();
      if (calmSince - healedAt > world.boundMs) return violations.report('everything is finished', unfinished);
    }
  };
  await play();
  const ran = violations.all.length;
  let stopped = false;
  void world.stop().then(() => {
    stopped = true;
  });
  const since = clock.now();
  while (!stopped && clock.now() - since < stopWithinMs) await advance(clock, tickMs);
  if (!stopped && ran === 0) violations.report('stops', `the ${name} suite does not stop`);
  return { violations: violations.all, virtualMs: clock.now() - begin, timeline: timeline.entries };
}

function noting(note: SuitePorts['note'], actor: string, bound: LogFields = {}): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      note(actor, () => `${level} ${message} ${formatFields({ ...bound, ...fields })}`);
  return {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    with: (fields) => noting(note, actor, { ...bound, ...fields }),
  };
}
