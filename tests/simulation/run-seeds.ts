import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SmallState } from './exhaustive/interruption.ts';
import type { ScenarioOptions } from './scenario.ts';
import type { SeedReport, SeedRequest } from './seed-report.ts';

export interface SeedsOptions {
  readonly first: number;
  /** False once no further seed is to be started. */
  readonly continues: (started: number) => boolean;
  readonly scenario: ScenarioOptions;
  /** States of the small world in place of scenarios: seed 1 is the first one. */
  readonly states?: readonly SmallState[];
  /** Run each scenario twice, and compare what happens. Default: false. */
  readonly twice?: boolean;
  readonly processes: number;
  readonly onReport: (report: SeedReport) => void;
  /** Arguments of Node for the worker processes. */
  readonly execArgv?: readonly string[];
  /** Environment variables of the worker processes, in addition. */
  readonly environment?: Readonly<Record<string, string>>;
}

const worker = fileURLToPath(new URL('./seed-worker.ts', import.meta.url));

/** A seed that runs longer counts as failed, in milliseconds. Generous, because the machine may be busy. */
const seedTimeLimitMs = 180_000;
/** Compiled modules, so that processes start faster. */
const compileCache = fileURLToPath(new URL('../../.cache/simulation', import.meta.url));

/** Runs seeds in several processes, one at a time in each, until none is left. */
export async function runSeeds(options: SeedsOptions): Promise<void> {
  const { first, continues } = options;
  let started = 0;
  const next = () => (continues(started) ? first + started++ : undefined);
  await Promise.all(Array.from({ length: options.processes }, () => runProcess(options, next)));
}

async function runProcess(options: SeedsOptions, next: () => number | undefined): Promise<void> {
  for (let child = start(options); ; ) {
    const seed = next();
    if (seed === undefined) return end(child);
    const report = await runSeed(child, seed, options);
    options.onReport(report);
    if (child.connected && !child.killed) continue;
    child = start(options);
  }
}

const start = ({ execArgv = [], environment = {} }: SeedsOptions): ChildProcess =>
  fork(worker, { execArgv: [...execArgv], env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...environment } });

function end(child: ChildProcess): void {
  if (child.connected) child.disconnect();
}

/** A process that ends or hangs fails its seed. */
function runSeed(child: ChildProcess, seed: number, options: SeedsOptions): Promise<SeedReport> {
  return new Promise((resolve) => {
    const failed = (what: string) => {
      const violations = [{ invariant: 'no exception', atMs: 0, what }];
      done({ seed, violations, virtualMs: 0, calls: 0, longestStaleMs: 0, timeline: [], cpuMs: 0, reached: [] });
    };
    const onMessage = (report: SeedReport) => done(report);
    const onExit = (code: number | null) => failed(`the process ended with exit status ${code}`);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      failed('the seed does not end; a loop without pause?');
    }, seedTimeLimitMs);
    const done = (report: SeedReport) => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(report);
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
    const state = options.states?.[seed - 1];
    const { scenario, twice = false } = options;
    const request: SeedRequest = { seed, options: scenario, twice, ...(state && { state }) };
    child.send(request);
  });
}
