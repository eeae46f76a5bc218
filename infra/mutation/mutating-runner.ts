import { relative } from 'node:path';
import {
  type RunnerTestCase,
  type RunnerTestFile,
  type RunnerTestSuite,
  TestRunner,
  type TestRunnerConfig,
  type TestTryOptions,
} from 'vitest';
import { afterLoading, beforeLoading, forget } from './forgetful-caches.ts';
import { RunningFile, readEvents, readSettings, record } from './run-record.ts';
import { loadedMutants } from './stryker-namespace.ts';
import { TestSession } from './test-session.ts';

/** Tests replace the timers. */
const { setInterval, clearInterval } = globalThis;
const now = performance.now.bind(performance);
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

const TICK_MS = 50;
/** A test hangs if it uses less CPU than this in each of so many ticks, and waits longer than twice as long as usual. */
const IDLE_MS = 1;
const IDLE_TICKS = 5;
/** Or if it uses more CPU than this, and than twenty times as much as usual. */
const BUSY_MS = 500;

/** Runs each test of a file once for each mutant, without loading the file again (`test.runner` of Vitest). */
export default class MutatingRunner extends TestRunner {
  readonly #settings = readSettings();
  readonly #running = new RunningFile(Number(process.env.VITEST_POOL_ID ?? 1));
  readonly #unconfirmed = new Map<string, Set<string>>();
  readonly #known = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #done = new Set<string>();
  #session: TestSession | undefined;
  #isBroken = false;
  #cpuAtStart = 0;
  #startedAt = 0;
  #usualMs = 0;
  #usualCpuMs = 0;
  #timedOut = false;

  constructor(config: TestRunnerConfig) {
    super(config);
    beforeLoading();
    for (const event of readEvents()) {
      if (event.kind === 'test') this.#known.add(event.id);
      if (event.kind === 'done') this.#done.add(event.test);
      if (event.kind === 'failed') this.#failed.add(event.test);
      if (event.kind === 'unconfirmed') {
        const mutants = this.#unconfirmed.get(event.test) ?? new Set();
        mutants.delete(event.mutant);
        this.#unconfirmed.set(event.test, mutants.add(event.mutant));
      }
    }
  }

  async onBeforeCollect(): Promise<void> {
    // A failing property is not shrunk, and the same values come again, so that scores can be compared.
    const { configureGlobal } = await import('fast-check');
    configureGlobal({ seed: 1, endOnFailure: true });
  }

  onCollected(files: RunnerTestFile[]): void {
    afterLoading();
    const mutants = loadedMutants();
    for (const file of files) {
      record({
        kind: 'loaded',
        file: nameOf(file),
        mutants,
        tests: testsOf(file).filter(({ mode }) => mode === 'run' || mode === 'queued').length,
      });
    }
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    if (this.#isBroken || this.#done.has(test.id)) test.mode = 'skip';
    await super.onBeforeRunTask(test);
    if (test.mode !== 'run' && test.mode !== 'queued') return;
    test.repeats = Infinity;
    test.retry = 0;
    [this.#usualMs, this.#usualCpuMs] = [0, 0];
    const named = { id: test.id, name: test.fullTestName, file: nameOf(test.file) };
    this.#session = new TestSession(named, this.#settings, {
      unconfirmed: this.#unconfirmed.get(test.id) ?? new Set(),
      known: this.#known.has(test.id),
      failedBefore: this.#failed.has(test.id),
    });
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    // What the last run left in the result would fill the memory.
    if (test.result !== undefined) Object.assign(test.result, { errors: undefined, attempts: [] });
    // Assertions of a run that hung would make the next one wait for them.
    Object.assign(test, { promises: [] });
    if (this.#session?.start() !== true) return test.context.skip();
    forget();
    this.#timedOut = false;
    this.#running.set({ mutant: this.#session.subject, test: test.id, since: Date.now() });
    this.#startedAt = now();
    this.#cpuAtStart = cpuMs();
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    try {
      await (this.#session?.subject === undefined ? run() : this.#runWatched(run));
    } catch (error) {
      if (isSkip(error)) throw error;
      // Nobody reads how the test fails. Vitest cannot describe objects whose getters read private fields: it throws instead of
      // ending the run, and would repeat it forever.
      throw new Error('the test fails');
    }
  }

  async #runWatched(run: () => PromiseLike<void> | void): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const hanging = new Promise<never>((_, reject) => {
      let [before, idleTicks] = [cpuMs(), 0];
      timer = setInterval(() => {
        const used = cpuMs();
        // Ticks, because a thread that gets no CPU on a busy machine is not idle.
        idleTicks = used - before < IDLE_MS ? idleTicks + 1 : 0;
        before = used;
        const isIdle = idleTicks >= IDLE_TICKS && now() - this.#startedAt > 2 * this.#usualMs;
        if (!isIdle && used - this.#cpuAtStart < Math.max(BUSY_MS, 20 * this.#usualCpuMs)) return;
        this.#timedOut = true;
        reject(new Error('the mutant makes the test hang'));
      }, TICK_MS);
    });
    try {
      await Promise.race([run(), hanging]);
    } finally {
      clearInterval(timer);
    }
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const session = this.#session;
    if (session === undefined) return;
    if (test.result?.state === 'skip') return session.abandon();
    const usedMs = cpuMs() - this.#cpuAtStart;
    if (options.repeats === 0) [this.#usualMs, this.#usualCpuMs] = [now() - this.#startedAt, usedMs];
    session.finish({ failed: test.result?.state === 'fail', timedOut: this.#timedOut, cpuMs: usedMs });
    this.#isBroken ||= session.isBroken;
  }
}

/** The test has skipped itself. */
const isSkip = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'VITEST_PENDING';

const nameOf = (file: RunnerTestFile): string => relative(process.cwd(), file.filepath);

function testsOf(suite: RunnerTestSuite): readonly RunnerTestCase[] {
  return suite.tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task) : [task]));
}
