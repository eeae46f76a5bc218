import { say } from '@sluice/program';
import { readProgress } from './run-record.ts';

const PERIOD_MS = 30_000;

/** Says now and then how far a run is. */
export function showProgress(room: string): { readonly stop: () => void } {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const { detected, done, tests } = readProgress();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    say(`${room}: ${seconds} s: ${detected} mutants noticed, ${done} of ${tests} tests done`);
  }, PERIOD_MS);
  return { stop: () => clearInterval(timer) };
}
