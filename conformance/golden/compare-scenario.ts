import { type Json, nameForm, objectAt } from '@sluice/shadow';
import { comparedRounds, isCompared } from './compared-rounds.ts';
import { differences } from './difference.ts';
import { countEvents, eventDifferences } from './events.ts';
import { givenNames } from './normalise.ts';
import { type ActualRound, type Result, type Vector, verbs, type Writes } from './vector.ts';
import { viewOf, withoutTriggerTimes } from './view.ts';

export interface CompareOptions {
  /** Whether Sluice got the resyncs of the scenario. Default: true. */
  readonly resyncs?: boolean;
  /** Whether Events are compared, where they can be. Default: true. */
  readonly events?: boolean;
}

const mostLines = 8;

/**
 * Differences between a vector and a result in states, Events and the number of requests per verb, of which there may be no
 * more than upstream sends. Empty if they agree.
 */
export function compareScenario(
  vector: Vector,
  result: Result,
  { resyncs = true, events = true }: CompareOptions = {},
): string[] {
  const expected = vector.expect.rounds;
  const actual = result.rounds;
  if (expected.length !== actual.length) return [`rounds: expected ${expected.length}, got ${actual.length}`];
  const given = givenNames(vector.scenario);
  const lines: string[] = [];
  for (const [i, compared] of comparedRounds(vector, resyncs).entries()) {
    const [round, found] = [expected[i], actual[i]];
    if (!isCompared(compared) || round === undefined || found === undefined) continue;
    const path = `round ${i} (${round.after})`;
    const sides: [Json, Json] = [compared.objects, viewOf(found.objects, given, vector)];
    const [a, b] = vector.triggerTime === false ? sides.map(withoutTriggerTimes) : sides;
    lines.push(...differences(a ?? null, b ?? null, `${path} objects`, mostLines - lines.length));
    if (vector.class === 'shape' || vector.loose?.includes('names')) lines.push(...wrongPrefixes(found, given, path));
    if (events && compared.events)
      lines.push(...eventDifferences(countEvents(round.events), countEvents(found.events), `${path} events`));
    if (lines.length >= mostLines) break;
  }
  return [...lines, ...surplusWrites(vector, result)];
}

/** Generated names need their prefix even where names are not compared. */
function wrongPrefixes({ objects }: ActualRound, given: ReadonlySet<string>, path: string): string[] {
  const names = (objects.endpointslices ?? []).map((slice) => nameForm(objectAt(slice, 'metadata'), given));
  const wrong = names.filter((name) => !given.has(name) && !name.endsWith('*'));
  return wrong.map((name) => `${path} endpointslices: name ${name} has no accepted prefix`);
}

function surplusWrites({ expect }: Vector, { rounds }: Result): string[] {
  const total = (all: readonly { readonly writes?: Partial<Writes> }[], verb: (typeof verbs)[number]) =>
    all.reduce((sum, { writes }) => sum + (writes?.[verb] ?? 0), 0);
  return verbs.flatMap((verb) => {
    const [most, got] = [total(expect.rounds, verb), total(rounds, verb)];
    return got > most ? [`writes.${verb}: at most ${most}, got ${got}`] : [];
  });
}
