import { canonical, type JsonObject } from '@sluice/shadow';
import { canonicalMessage } from './events.ts';
import { givenNames } from './normalise.ts';
import { type ExpectedRound, type RecordedEvent, type Vector, verbs, type Writes } from './vector.ts';
import { viewOf } from './view.ts';

/** The oracle's result for a scenario. */
export interface OracleResult {
  readonly name: string;
  readonly error?: string;
  readonly rounds: readonly OracleRound[];
  /**
   * Number of leading rounds that were equal in all repetitions: in full, without names, in shape, in shape with hints
   * counted.
   */
  readonly prefixes: readonly number[];
}

interface OracleRound {
  readonly trigger: string;
  readonly quiet: boolean;
  readonly actions: readonly { readonly verb: string }[];
  readonly events: readonly (Omit<RecordedEvent, 'regarding'> & RecordedEvent['regarding'])[] | null;
  readonly objects: { readonly endpoints: JsonObject[]; readonly endpointslices: JsonObject[] };
}

export interface Scenario {
  readonly name: string;
  readonly steps?: readonly { readonly op: string; readonly run?: boolean }[];
  readonly faults?: readonly unknown[];
  readonly [field: string]: unknown;
}

/** Adds a resync after the start and after each step, so that upstream corrects what it missed. */
export function withResyncs(scenario: Scenario): Scenario {
  const lag = (scenario.config as { readonly lag?: boolean } | undefined)?.lag === true;
  const after = [...(lag ? [{ op: 'deliver' }] : []), { op: 'resync' }];
  const steps = (scenario.steps ?? []).flatMap((step) =>
    step.run === false || step.op === 'fault' ? [step] : [step, ...after],
  );
  return { ...scenario, steps: [...after, ...steps] };
}

const classes = [
  { class: 'strict' },
  { class: 'strict', loose: ['names'] },
  { class: 'shape' },
  { class: 'shape', loose: ['hints'] },
] as const satisfies readonly Pick<Vector, 'class' | 'loose'>[];
/** How many rounds a stricter class outweighs. */
const worth = [0, 0.1, 0.9, 1.4];

/**
 * The vector of a scenario: of the strictest class that holds for all rounds, otherwise of the class with the highest
 * worth, cut before the first round for which it does not hold. Only rounds after a resync are compared. Undefined if
 * no round can be.
 */
export function makeVector(scenario: Scenario, { error, rounds, prefixes }: OracleResult): Vector | undefined {
  if (error) return undefined;
  const whole = classes.findIndex((_, level) => prefixes[level] === rounds.length);
  const level = whole >= 0 ? whole : mostWorth(prefixes);
  const kept = prefixes[level] ?? 0;
  const kind = classes[level];
  if (kind === undefined || kept < 1) return undefined;
  const steps = (scenario.steps ?? []).slice(0, kept - 1);
  const all = Array.from({ length: kept }, (_, i) => i);
  const open = all.filter((i) => i === 0 || steps[i - 1]?.op !== 'resync');
  if (open.length === kept) return undefined;
  const cut = { ...scenario, steps } as unknown as Vector['scenario'];
  return {
    name: scenario.name,
    ...kind,
    scenario: cut,
    expect: { rounds: expectedRounds(rounds.slice(0, kept), cut, kind) },
    open,
    ...(losesTriggerTimes(scenario, steps) && { triggerTime: false }),
  };
}

/** The vector of the same scenario with other controllers. Undefined if they fail or end rounds elsewhere. */
export function withRounds(vector: Vector, { error, rounds }: OracleResult): Vector | undefined {
  if (error || rounds.length !== vector.expect.rounds.length) return undefined;
  return { ...vector, expect: { rounds: expectedRounds(rounds, vector.scenario, vector) } };
}

function mostWorth(prefixes: readonly number[]): number {
  const values = prefixes.map((prefix, level) => prefix - (worth[level] ?? 0));
  return values.indexOf(Math.max(...values));
}

/** A retry of upstream writes without the trigger time (B11). */
function losesTriggerTimes({ name, faults = [] }: Scenario, steps: readonly { readonly op: string }[]): boolean {
  return /^(faults|lag)\//.test(name) || faults.length > 0 || steps.some(({ op }) => op === 'fault');
}

function expectedRounds(
  rounds: readonly OracleRound[],
  scenario: Vector['scenario'],
  kind: Pick<Vector, 'class' | 'loose'>,
): ExpectedRound[] {
  const given = givenNames(scenario);
  let last = '';
  return rounds.map(({ trigger, objects, actions, events, quiet }) => {
    const view = viewOf(objects, given, kind);
    const text = canonical(view);
    const same = text === last;
    last = text;
    const writes = Object.fromEntries(
      verbs.map((verb) => [verb, actions.filter((action) => action.verb === verb).length]),
    ) as unknown as Writes;
    return {
      after: trigger,
      objects: same ? '=' : view,
      writes,
      events: countedEvents(events),
      ...(!quiet && { quiet: false }),
    };
  });
}

function countedEvents(events: OracleRound['events']): RecordedEvent[] {
  const counted = new Map<string, RecordedEvent>();
  for (const { type, reason, message, kind, namespace, name } of events ?? []) {
    const event = { type, reason, message: canonicalMessage(message), regarding: { kind, namespace, name } };
    const key = canonical(event);
    const count = (counted.get(key)?.count ?? (counted.has(key) ? 1 : 0)) + 1;
    counted.set(key, count > 1 ? { ...event, count } : event);
  }
  return [...counted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, event]) => event);
}
