import { findAccess } from '@sluice/clusters';
import { addConfigurationOptions, configurationOf } from '@sluice/configuration';
import { isKubeconfigError } from '@sluice/kubernetes';
import { type Check, checkCluster, failed, jsonChecks, listChecks, warning } from '@sluice/preflight';
import { columnsOf, createLogger, systemClock, systemRandom } from '@sluice/process';
import { type Command, Option } from 'commander';
import { checkInfrastructure } from '../doctor/check-infrastructure.ts';
import { historyCheck } from '../doctor/history-check.ts';

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
    const checks: Check[] = [...(await checkInfrastructure(configuration, ports)), historyCheck(configuration)];
    for (const { name, ...choice } of configuration.clusters) {
      try {
        const access = await findAccess(choice, process.env);
        checks.push(...(await checkCluster(name ?? access.context, access, { ...ports, logger }, { probe })));
      } catch (error) {
        if (!isKubeconfigError(error)) throw error;
        checks.push(
          failed(`cluster ${name ?? 'of this kubeconfig'}`, 'kubeconfig', error.message, 'correct the kubeconfig'),
        );
      }
    }
    if (configuration.clusters.length === 0) {
      const advice = 'pass --kubeconfig FILE or --in-cluster, or list clusters in --config FILE';
      checks.push(warning('clusters', 'configuration', 'no cluster configured', advice));
    }
    process.stdout.write(output === 'json' ? jsonChecks(checks) : listChecks(checks, columnsOf(process.stdout)));
    if (checks.some(({ result }) => result === 'failed')) process.exitCode = 1;
  });
}
