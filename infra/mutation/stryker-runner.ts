import type { StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import { readEvents, type TestEvent } from './run-record.ts';
import { runTests, type TestRunOptions } from './test-runs.ts';

type Detected = Extract<ReturnType<typeof readEvents>[number], { readonly kind: 'detected' }>;

/**
 * Answers Stryker from one run. Stryker asks for a test run per mutant, and starting a test process for each takes 0.3 s of CPU;
 * the first request here, which is for a run without mutants, tries all of them.
 */
class OneRun implements TestRunner {
  readonly #options: TestRunOptions;
  readonly #detected = new Map<string, Detected>();

  constructor(options: TestRunOptions) {
    this.#options = options;
  }

  capabilities() {
    // True, because otherwise Stryker starts another process, which knows nothing of the run.
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<DryRunResult> {
    await runTests(this.#options);
    const tests = new Map<string, TestEvent>();
    const loaded: Record<string, number> = {};
    for (const event of readEvents()) {
      if (event.kind === 'test') tests.set(event.id, event);
      if (event.kind === 'detected') this.#detected.set(event.mutant, event);
      if (event.kind === 'loaded') for (const mutant of event.mutants) loaded[mutant] = 1;
    }
    const used = [...tests.values()].filter(({ result }) => result !== 'slow');
    return {
      status: DryRunStatus.Complete,
      tests: used.map(testResult),
      mutantCoverage: { static: loaded, perTest: Object.fromEntries(used.map(({ id, hits }) => [id, hits])) },
    };
  }

  async mutantRun({ activeMutant, testFilter }: MutantRunOptions): Promise<MutantRunResult> {
    const nrOfTests = testFilter?.length ?? 0;
    const detected = this.#detected.get(activeMutant.id);
    if (detected === undefined) return { status: MutantRunStatus.Survived, nrOfTests };
    if (detected.by === 'timeout') return { status: MutantRunStatus.Timeout };
    return { status: MutantRunStatus.Killed, killedBy: [detected.test], failureMessage: '', nrOfTests };
  }
}

function testResult({ id, name, file, cpuMs, result }: TestEvent): TestResult {
  const described = { id, name: `${file}: ${name}`, timeSpentMs: cpuMs };
  if (result !== 'failed') return { ...described, status: TestStatus.Success };
  return { ...described, status: TestStatus.Failed, failureMessage: 'fails without a mutant' };
}

function createRunner(options: StrykerOptions): TestRunner {
  return new OneRun(options.runs as TestRunOptions);
}
createRunner.inject = [commonTokens.options] as const;

/** Stryker looks for this name. */
export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'one-run', createRunner as never)];
