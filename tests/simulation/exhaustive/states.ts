import type { Scenario } from '../scenario.ts';
import { type RunResult, simulate } from '../simulation.ts';
import { Interrupter } from './interrupter.ts';
import type { Interruption, SmallState } from './interruption.ts';
import { removals } from './removals.ts';
import { smallActions } from './small-user.ts';

/** Time between two actions, in milliseconds: shorter and longer than the batches and commits of the pipeline. */
const periodsMs = [40, 400];
/** Longest distance of an old replica, in changes. */
const mostBehind = 20;

const resources = ['all', 'services', 'pods', 'nodes', 'endpoints', 'endpointslices'] as const;

/** One cluster, one partition, one process per role, and a user with a fixed list of actions. */
export function smallScenario(periodMs: number): Scenario {
  const events = Array.from({ length: smallActions }, (_, i) => ({
    atMs: i * periodMs,
    kind: 'user' as const,
    seed: 1,
  }));
  return {
    ...{ seed: 1, small: true, clusters: 1, namespaces: 1, partitions: 1, maxEndpointsPerSlice: 100, batchPeriodMs: 0 },
    ...{
      processes: 'roles',
      recordBytes: null,
      recordsPerRead: null,
      firstOffset: 0,
      dropsRepeated: true,
      dropsReleased: true,
      disabled: [],
      events,
    },
    activeMs: smallActions * periodMs,
    store: 'model',
    bus: 'model',
    wire: 'objects',
  };
}

/** Every interruption of the small world. */
export async function allStates(): Promise<readonly SmallState[]> {
  const states: SmallState[] = [];
  for (const periodMs of periodsMs) {
    const scenario = smallScenario(periodMs);
    const interruptions = [...(await crashes(scenario)), ...unobserved(), ...stale()];
    states.push(...interruptions.map((interruption) => ({ scenario, interruption })));
  }
  return [...states, ...(await removals())];
}

/** How long a Service may be wrong, with the interruption, in milliseconds: some seconds longer than the longest one. */
const boundMs = 12_000;

export const runState = ({ scenario, interruption }: SmallState): Promise<RunResult> =>
  simulate(scenario, { interrupter: new Interrupter(interruption), boundMs });

/** The side effects are those of an undisturbed run. */
async function crashes(scenario: Scenario): Promise<Interruption[]> {
  const interrupter = new Interrupter(undefined);
  await simulate(scenario, { interrupter });
  return [...interrupter.effects.keys()].flatMap((role) =>
    Array.from({ length: interrupter.effects.get(role) ?? 0 }, (_, i) => i + 1).flatMap((effect) =>
      (['before', 'after'] as const).map((when) => ({ kind: 'crash' as const, role, effect, when })),
    ),
  );
}

function unobserved(): Interruption[] {
  const found: Interruption[] = [];
  for (const resource of resources)
    for (let from = 1; from < smallActions; from++)
      for (let to = from + 1; to <= smallActions; to++)
        for (const relists of [true, false]) found.push({ kind: 'unobserved', resource, from, to, relists });
  return found;
}

function stale(): Interruption[] {
  const found: Interruption[] = [];
  for (let action = 1; action <= smallActions; action++)
    for (let behind = 1; behind <= mostBehind; behind++)
      for (const restarts of [true, false]) found.push({ kind: 'stale', action, behind, restarts });
  return found;
}
