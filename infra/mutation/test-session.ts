import { type Detection, readDetected, record } from './run-record.ts';
import { activate, isOverHitLimit, measure, measured, wasReached } from './stryker-namespace.ts';

export interface Limits {
  readonly laterMs: number;
  readonly slowMs: number;
}

export interface Attempt {
  readonly failed: boolean;
  readonly timedOut: boolean;
  readonly cpuMs: number;
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly file: string;
}

/** What earlier processes found out about the test. */
export interface Past {
  /** Mutants with which it failed, and then without; the latest comes last. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Whether it is recorded. */
  readonly known: boolean;
  /** Whether it failed without a mutant: it may do so once, because the machine may be busy. */
  readonly failedBefore: boolean;
}

interface MutantStep {
  readonly kind: 'mutant' | 'control' | 'confirm';
  readonly mutant: string;
  readonly by?: Detection;
}

type Step = { readonly kind: 'measure' } | { readonly kind: 'repeat' } | MutantStep;

/**
 * Runs one test again and again in the process that has loaded it: once without mutants, then with each mutant that it reaches.
 * A mutant counts as detected if the test fails with it, passes without it, and fails with it again. A test that then fails
 * without a mutant is broken by state that a mutant left behind, and the rest waits for a fresh process. There it is repeated without
 * mutants first: a test that fails then cannot be repeated, and shows nothing.
 */
export class TestSession {
  readonly #test: Named;
  readonly #limits: Limits;
  readonly #unconfirmed: ReadonlySet<string>;
  readonly #known: boolean;
  readonly #failedBefore: boolean;
  #hits: Readonly<Record<string, number>> = {};
  #queue: string[] = [];
  #step: Step | undefined = { kind: 'measure' };
  #isFirst = true;
  isBroken = false;

  constructor(test: Named, limits: Limits, { unconfirmed, known, failedBefore }: Past) {
    this.#test = test;
    this.#limits = limits;
    this.#unconfirmed = unconfirmed;
    this.#known = known;
    this.#failedBefore = failedBefore;
  }

  /** The mutant that the next run is about, even if it is not active in it; undefined for the first run. */
  get subject(): string | undefined {
    return this.#step !== undefined && 'mutant' in this.#step ? this.#step.mutant : undefined;
  }

  /** Prepares the next run of the test; false if there is none. */
  start(): boolean {
    const step = this.#step;
    if (step === undefined) return false;
    if (step.kind === 'measure') measure(this.#test.id);
    else if (step.kind === 'mutant' || step.kind === 'confirm') activate(step.mutant, this.#hits[step.mutant]);
    else activate(undefined);
    return true;
  }

  /** Called for a test that skips itself, and after the last run. */
  abandon(): void {
    if (this.#step?.kind === 'measure') record({ kind: 'done', test: this.#test.id });
    this.#step = undefined;
  }

  finish(attempt: Attempt): void {
    const step = this.#step;
    if (step === undefined) return;
    const endless = isOverHitLimit();
    if (step.kind === 'mutant' && !attempt.failed && !wasReached())
      record({ kind: 'unreached', mutant: step.mutant, test: this.#test.id });
    activate(undefined);
    if (step.kind === 'measure') this.#step = this.#afterMeasure(attempt);
    else if (step.kind === 'repeat') this.#step = this.#afterRepetition(attempt);
    else if (step.kind === 'mutant') this.#step = this.#afterMutant(step.mutant, attempt, endless);
    else if (step.kind === 'control') this.#step = this.#afterControl(step, attempt);
    else this.#step = this.#afterConfirmation(step, attempt);
  }

  #afterMeasure({ failed, cpuMs }: Attempt): Step | undefined {
    this.#hits = measured(this.#test.id);
    const result = failed ? 'failed' : cpuMs > this.#limits.slowMs ? 'slow' : 'passed';
    const { id } = this.#test;
    if (failed && !this.#failedBefore) {
      record({ kind: 'failed', test: id });
      return undefined;
    }
    if (!this.#known) record({ kind: 'test', ...this.#test, cpuMs, result, hits: this.#hits });
    if (result === 'passed' && cpuMs > this.#limits.laterMs) return undefined;
    if (result === 'passed') this.#queue = this.#undetected();
    if (this.#queue.length === 0) record({ kind: 'done', test: id });
    return this.#queue.length > 0 && this.#unconfirmed.size > 0 ? { kind: 'repeat' } : this.#next();
  }

  #afterRepetition({ failed }: Attempt): Step | undefined {
    if (!failed) return this.#next();
    this.isBroken = true;
    record({ kind: 'abandoned', file: this.#test.file });
    record({ kind: 'done', test: this.#test.id });
    return undefined;
  }

  /**
   * To be taken from the end: the latest unconfirmed one first, because no other mutant has run in this process then, and those
   * that came first in earlier processes were tried.
   */
  #undetected(): string[] {
    const isDetected = readDetected();
    const reached = new Set(Object.keys(this.#hits).filter((mutant) => !isDetected(mutant)));
    const unconfirmed = [...this.#unconfirmed].filter((mutant) => reached.delete(mutant));
    return [...[...reached].reverse(), ...unconfirmed];
  }

  #next(): Step | undefined {
    const mutant = this.#queue.pop();
    return mutant === undefined ? undefined : { kind: 'mutant', mutant };
  }

  #afterMutant(mutant: string, { failed, timedOut }: Attempt, endless: boolean): Step | undefined {
    if (!failed && !endless) return this.#continue();
    const by = timedOut || endless ? 'timeout' : 'killed';
    if (!this.#isFirst || !this.#unconfirmed.has(mutant)) return { kind: 'control', mutant, by };
    this.#detect(mutant, by);
    return this.#continue();
  }

  #afterControl(step: MutantStep, { failed }: Attempt): Step | undefined {
    if (!failed && step.by === 'timeout') {
      // Waiting for it once more would show the same.
      this.#detect(step.mutant, 'timeout');
      return this.#continue();
    }
    if (!failed) return { ...step, kind: 'confirm' };
    this.isBroken = true;
    record({ kind: 'unconfirmed', mutant: step.mutant, test: this.#test.id });
    return undefined;
  }

  #afterConfirmation({ mutant, by = 'killed' }: MutantStep, { failed }: Attempt): Step | undefined {
    if (failed) this.#detect(mutant, by);
    return this.#continue();
  }

  #detect(mutant: string, by: Detection): void {
    record({ kind: 'detected', mutant, test: this.#test.id, by });
  }

  #continue(): Step | undefined {
    this.#isFirst = false;
    const next = this.#next();
    if (next === undefined) record({ kind: 'done', test: this.#test.id });
    return next;
  }
}
