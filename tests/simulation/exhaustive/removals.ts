import { seededRandom } from '@sluice/platform';
import { type ScenarioEvent, scenarioOf } from '../scenario.ts';
import { simulate } from '../simulation.ts';
import { type Interruption, interruptionOf } from '../suites/clusters/removal-steps.ts';
import type { SmallState } from './interruption.ts';
import { type Course, courses, type Event, type FleetKind, fleets } from './removal-courses.ts';

/** A removal has as many, or some less. */
const mostSteps = 10;
/** After every removal. */
const never: Interruption = { step: mostSteps + 4, how: 'ends before' };
/** From the last event until all faults end: longer than until each process has read the configuration. */
const afterMs = 10_000;

/** Each way in which a cluster is removed, interrupted after each of its steps. */
export async function removals(): Promise<readonly SmallState[]> {
  const states: SmallState[] = [];
  for (const course of Object.keys(courses) as Course[]) {
    for (const fleet of Object.keys(fleets) as FleetKind[]) {
      const steps = await stepsOf(course, fleet);
      for (let step = 1; step <= steps; step++)
        for (const how of courses[course].how)
          states.push({
            scenario: scenario(course, fleet, { step, how }),
            interruption: { kind: 'removal', course, fleet, step, how },
          });
    }
  }
  return states;
}

async function stepsOf(course: Course, fleet: FleetKind): Promise<number> {
  const { timeline } = await simulate(scenario(course, fleet, never), { timeline: Number.MAX_SAFE_INTEGER });
  const steps = timeline.map(({ what }) => Number(/^step (\d+): /.exec(what)?.[1] ?? 0));
  return Math.min(mostSteps, Math.max(...steps));
}

function scenario(course: Course, fleet: FleetKind, interruption: Interruption): SmallState['scenario'] {
  const given: readonly Event[] = courses[course].events;
  const interrupted = given.find(([, kind]) => kind === 'forgetting is interrupted') ?? given[0];
  const events = given.map((event): ScenarioEvent => {
    const [atMs, kind] = event;
    return { atMs, kind, seed: seedOf(event === interrupted ? interruption : never) };
  });
  return {
    ...scenarioOf(fleets[fleet], { swarm: false, suite: 'clusters' }),
    events,
    activeMs: afterMs + (given.at(-1)?.[0] ?? 0),
  };
}

/** The first seed of an event that draws this interruption. */
function seedOf({ step, how }: Interruption): number {
  for (let seed = 1; ; seed++) {
    const drawn = interruptionOf(seededRandom(seed));
    if (drawn.step === step && drawn.how === how) return seed;
  }
}
