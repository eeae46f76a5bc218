/** Measures how many problems the recorder reports that are none. See `--help`. */

import { flag, integer, say } from '@sluice/program';
import { measureRealRun } from './src/false-alarms/real-run.ts';
import { falseAlarmTables, findingsTable, incidentsTable } from './src/false-alarms/report.ts';
import { simulateWeek } from './src/false-alarms/simulated-week.ts';
import { runBench } from './src/run-bench.ts';

/** False alarms per day. */
const goal = 1;

await runBench({
  name: 'false-alarms',
  about: `Runs the watcher and the recorder of "sluice observe" in virtual time on a cluster with the ordinary operations of a week: rollouts,
autoscaling, Jobs, Nodes that are drained, restarts of controllers and of the API server, and what else causes no incident. Some
incidents are planted. Whatever the recorder reports with the severity warning or critical is compared with what the load knows. The exit
status is 1 with ${goal} false alarm per day or more, or if an incident is not found. With --real, it runs "sluice observe" and
kube-controller-manager on a real API server, with an operation every four seconds and without incidents.
`,
  options: {
    services: integer(100, 'Services'),
    days: integer(7, 'simulated days'),
    seed: integer(1, 'seed of the load'),
    real: flag('run on a real API server, in real time'),
    minutes: integer(120, 'duration of a real run'),
  },
  async measure({ services, seed, real, minutes, ...simulated }, directory) {
    const days = real ? minutes / 1_440 : simulated.days;
    const common = { directory, services, seed };
    const result = real ? await measureRealRun({ ...common, minutes }) : await simulateWeek({ ...common, days, say });
    const falseAlarms = result.findings.filter((one) => !result.truth.isTrue(one));
    const { expected } = result.truth;
    const missed = expected.filter((one) => !result.truth.isFound(one, result.findings));
    const duration = real ? `${minutes} minutes` : `${days} days`;
    const title = `${services} Services, ${duration}, seed ${seed}`;
    const perDay = falseAlarms.length / days;
    return {
      tables: [findingsTable(title, result, days), incidentsTable(result), ...falseAlarmTables(falseAlarms)],
      json: { perDay, falseAlarms, incidents: expected.length, missed },
      failed: perDay >= goal || missed.length > 0,
    };
  },
});
