import type { PlantedBug } from '@sluice/program/planted-bug';

/** A rule of the upstream controllers, with the evidence that Sluice keeps it. */
export interface Rule {
  /** For example C5. */
  readonly id: string;
  readonly title: string;
  /** How Sluice does it, where the code does not say so. Markdown. */
  readonly note?: string;
  /** Sluice deviates; docs/reference/parity.md says how. */
  readonly differs?: true;
  /** Ways to break the rule, each of which some tests detect. */
  readonly broken: readonly BrokenRule[];
  /** Why no change of Sluice breaks the rule, instead of `broken`. */
  readonly unbreakable?: string;
}

/** A change of production code that breaks one rule. */
export interface BrokenRule extends Omit<PlantedBug, 'name'> {
  /** Each must fail when the rule is broken. A path stands for those tests in the file whose titles name the rule. */
  readonly tests: readonly (string | TestReference)[];
}

export interface TestReference {
  readonly file: string;
  /** Part of the titles of groups and test, joined with " > ". */
  readonly title: string;
}

export interface Section {
  readonly heading: string;
  readonly rules: readonly Rule[];
}

/** The test of conformance/functions.test.ts that replays recorded calls of an upstream function. */
export const recorded = (title: string): TestReference => ({ file: 'conformance/functions.test.ts', title });

/** The test that plays recorded scenarios, for example endpoints/samples. */
export const played = (title: string): TestReference => ({ file: 'conformance/golden/play.test.ts', title });

export const fileOf = (test: string | TestReference): string => (typeof test === 'string' ? test : test.file);

/** The rules that a title names, with ranges such as E19–E21 expanded. */
export function rulesIn(title: string): string[] {
  return [...title.matchAll(/\b([A-L])(\d+)(?:–[A-L]?(\d+))?/g)].flatMap(([, section = '', from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${section}${Number(from) + i}`),
  );
}
