/** Runs seeds in a process of its own, as the parent process sends them. */
import { errorMessage } from '@sluice/platform';
import { takeReached } from './coverage/reached.ts';
import { runState } from './exhaustive/states.ts';
import { runTwice } from './run-twice.ts';
import { scenarioOf } from './scenario.ts';
import type { SeedReport, SeedRequest } from './seed-report.ts';
import { simulate } from './simulation.ts';

process.on('message', (request: SeedRequest) => {
  void run(request).then((report) => process.send?.(report));
});

async function run({ seed, options, state, twice }: SeedRequest): Promise<SeedReport> {
  const before = process.cpuUsage();
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  try {
    const { violations, virtualMs, calls, longestStaleMs, timeline } = await (state
      ? runState(state)
      : (twice ? runTwice : simulate)(scenarioOf(seed, options)));
    const isFailed = violations.length > 0;
    const kept = isFailed ? timeline : [];
    const reached = takeReached();
    return { seed, violations, virtualMs, calls, longestStaleMs, timeline: kept, cpuMs: cpuMs(), reached };
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : errorMessage(error);
    const violations = [{ invariant: 'no exception', atMs: 0, what }];
    return { seed, violations, virtualMs: 0, calls: 0, longestStaleMs: 0, timeline: [], cpuMs: cpuMs(), reached: [] };
  }
}
