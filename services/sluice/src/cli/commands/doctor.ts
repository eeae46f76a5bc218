import { addConfigurationOptions, configurationOf } from '@sluice/fleet/configuration';
import { jsonChecks, listChecks } from '@sluice/kubernetes/preflight';
import { columnsOf, exitStatus, print } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { checkAll } from '../doctor/check-all.ts';

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
    const configuration = await configurationOf(command, process.env, (text) => print(process.stderr, `${text}\n`));
    const checks = await checkAll(configuration, { probe });
    print(process.stdout, output === 'json' ? jsonChecks(checks) : listChecks(checks, columnsOf(process.stdout)));
    if (checks.some(({ result }) => result === 'failed')) process.exitCode = exitStatus.failure;
  });
}
