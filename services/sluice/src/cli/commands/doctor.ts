import { clusterSources } from '@sluice/clusters';
import { addConfigurationOptions, configurationOf } from '@sluice/configuration';
import { type Check, checkCluster, jsonChecks, listChecks, warning } from '@sluice/preflight';
import { columnsOf, createLogger, exitStatus, showWait, systemClock, systemRandom } from '@sluice/process';
import { type Command, Option } from 'commander';
import { checkInfrastructure } from '../doctor/check-infrastructure.ts';
import { checkSource } from '../doctor/check-source.ts';
import { historyCheck } from '../doctor/history-check.ts';
import { clustersToRead } from './default-cluster.ts';

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .summary('check clusters, bus and store')
    .description(
      'Checks what Sluice needs: versions, permissions, clocks, bus, store, and whether another controller still writes\n' +
        'the same objects. It changes nothing, except with --probe. Exit status: 0, or 1 if something failed.',
    )
    .addOption(
      new Option(
        '--probe',
        'create and delete a Service in namespace default, to see whether a controller writes for it',
      ),
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'));
  addConfigurationOptions(command).action(async () => {
    const { output, probe = false } = command.opts<{ output: 'table' | 'json'; probe?: boolean }>();
    const configuration = await configurationOf(command, process.env, (text) => void process.stderr.write(`${text}\n`));
    const ports = { clock: systemClock, random: systemRandom };
    const logger = createLogger('text', 'error');
    const wait = <T>(what: string, work: Promise<T>) =>
      showWait(what, work, { clock: systemClock, output: process.stderr });
    const infrastructure = await wait('checking bus and store', checkInfrastructure(configuration, ports));
    const checks: Check[] = [...infrastructure, historyCheck(configuration)];
    const sources = clusterSources(probe ? configuration : clustersToRead(configuration), process.env, {
      ...ports,
      logger,
    });
    for (const source of sources) {
      const work = checkSource<readonly Check[]>(source, {
        check: (name, access) => checkCluster(name, access, { ...ports, logger }, { probe }),
        unusable: (_, check) => [check],
      });
      checks.push(...(await wait(`checking the clusters in ${source.about}`, work)).flat());
    }
    if (sources.length === 0) {
      const advice = 'pass --kubeconfig FILE, --context NAME or --in-cluster, or list clusters in --config FILE';
      checks.push(warning('clusters', 'configuration', 'no cluster configured', advice));
    }
    process.stdout.write(output === 'json' ? jsonChecks(checks) : listChecks(checks, columnsOf(process.stdout)));
    if (checks.some(({ result }) => result === 'failed')) process.exitCode = exitStatus.failure;
  });
}
