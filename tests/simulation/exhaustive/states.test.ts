import { expect, test } from 'vitest';
import { simulate } from '../simulation.ts';
import { Interrupter } from './interrupter.ts';
import { describeInterruption } from './interruption.ts';
import { allStates, runState, smallScenario } from './states.ts';

/** CI runs all of them with `npm run simulate -- --exhaustive`. */
const every = 211;

test('the undisturbed small world keeps all invariants', async () => {
  expect((await simulate(smallScenario(400))).violations).toEqual([]);
});

test('a sample of the states keeps all invariants', async () => {
  const states = await allStates();
  expect(new Set(states.map(({ interruption }) => interruption.kind))).toEqual(
    new Set(['crash', 'unobserved', 'stale', 'removal']),
  );
  for (let i = 0; i < states.length; i += every) {
    const state = states[i];
    if (state === undefined) continue;
    const { violations } = await runState(state);
    expect(violations, describeInterruption(state.interruption)).toEqual([]);
  }
});

test('a process ends at a side effect, and another one takes over', async () => {
  const interrupter = new Interrupter({ kind: 'crash', role: 'writer', effect: 5, when: 'after' });
  const { timeline, violations } = await simulate(smallScenario(400), { interrupter, timeline: 5_000 });
  expect(violations).toEqual([]);
  const claims = timeline.filter(({ what }) => what.startsWith('claims writer/0')).map(({ actor }) => actor);
  expect(new Set(claims).size).toBe(2);
  expect(timeline.filter(({ actor, what }) => actor === 'fault' && what === `${claims[0]} ends`)).toHaveLength(1);
});
