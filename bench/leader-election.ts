/** Measures how long nobody writes when the leader of two processes fails, and whether anybody writes too long. See `--help`. */

import { ensureBinaries, KUBERNETES_VERSION } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import { ElectionTestbed, type Failure, type Takeover } from '@sluice/tests/election';
import { runBench } from './src/run-bench.ts';
import { percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const FAILURES = ['SIGKILL', 'SIGSTOP', 'SIGTERM'] as const satisfies readonly Failure[];

function table(takeovers: readonly Takeover[], leaseSeconds: number, violations: number): Table {
  const byFailure = [...Map.groupBy(takeovers, ({ failure }) => failure)];
  return {
    title: `Two processes with --leader-elect and a lease of ${leaseSeconds} s; writes by a former leader: ${violations}`,
    head: ['', 'take-overs', 'p50 s', 'min s', 'max s'],
    rows: byFailure.map(([failure, these]) => {
      const at = (share: number) =>
        number(
          percentile(
            these.map(({ gapMs }) => gapMs),
            share,
          ) / 1000,
        );
      return { cells: [failure, String(these.length), at(0.5), at(0), at(1)] };
    }),
  };
}

await runBench({
  name: 'leader-election',
  about: `Starts a real API server with an audit log and two processes with --leader-elect, while Pods change all the time. Kills,
freezes or stops the leader, and measures the time from the signal to the first write of the next one, by the audit
log. A frozen leader is resumed then. Fails if a process writes after its lease expired, or after another has written.
`,
  options: {
    repetitions: integer(20, 'take-overs per signal'),
    signals: selection(FAILURES, 'signals'),
    lease: integer(15, 'lease duration, in seconds; the other durations are in proportion to the defaults'),
  },
  async measure({ repetitions, signals, lease }, directory) {
    await ensureBinaries(say);
    const times = {
      leaseDurationMs: lease * 1000,
      renewDeadlineMs: (lease * 2000) / 3,
      retryPeriodMs: (lease * 2000) / 15,
    };
    const testbed = await ElectionTestbed.open(directory, times);
    const takeovers: Takeover[] = [];
    try {
      for (const failure of signals.flatMap((signal) => Array.from({ length: repetitions }, () => signal))) {
        const takeover = await testbed.takeOver(failure);
        takeovers.push(takeover);
        say(
          `  ${failure} ${takeovers.length}: ${(takeover.gapMs / 1000).toFixed(1)} s, former leader: ${takeover.exit}`,
        );
      }
      const violations = testbed.violations();
      for (const violation of violations) say(violation);
      return {
        tables: [table(takeovers, lease, violations.length)],
        conditions: `Kubernetes ${KUBERNETES_VERSION}. `,
        json: { kubernetes: KUBERNETES_VERSION, lease, takeovers, violations },
        failed: violations.length > 0,
      };
    } finally {
      await testbed.close();
    }
  },
});
