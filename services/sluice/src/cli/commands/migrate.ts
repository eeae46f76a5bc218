import { type CheckedMigration, checkMigration, clusterSources, type Migration } from '@sluice/fleet/clusters';
import { addConfigurationOptions, configurationOf } from '@sluice/fleet/configuration';
import { listChecks } from '@sluice/kubernetes/preflight';
import {
  columnsOf,
  createLogger,
  exitStatus,
  print,
  printableLine,
  showWait,
  systemClock,
  systemRandom,
  UsageError,
  wrap,
} from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { checkSource, clustersToRead } from '../doctor/check-source.ts';
import { clusterFlags } from '../doctor/cluster-flags.ts';

interface Options {
  readonly rollback?: boolean;
  readonly output: 'table' | 'json';
}

export function addMigrateCommand(program: Command): void {
  const migrate = program
    .command('migrate')
    .summary('move a cluster from kube-controller-manager to Sluice, or back')
    .description('Guides a migration between the endpoint controllers of kube-controller-manager and Sluice.');
  const check = migrate
    .command('check')
    .summary('show who writes the endpoints, and what to do next')
    .description(
      'Shows which program writes the Endpoints and EndpointSlices of a cluster, whether Sluice has what it needs, and\n' +
        'what to do next in its distribution of Kubernetes. It changes nothing. Exit status: 0, or 1 if a check failed, or if\n' +
        'nobody writes.',
    )
    .option('--rollback', 'show the way back to kube-controller-manager')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'));
  addConfigurationOptions(check).action(async () => {
    const { output, rollback = false } = check.opts<Options>();
    const configuration = await configurationOf(check, process.env, (text) => print(process.stderr, `${text}\n`));
    const ports = { clock: systemClock, random: systemRandom, logger: createLogger('text', 'error') };
    const { enabled: controllers } = configuration.controllers;
    const direction = rollback ? 'back' : 'in';
    const selected = clustersToRead(configuration);
    const sources = clusterSources(selected, process.env, ports);
    if (sources.length === 0)
      throw new UsageError(
        'no cluster configured; pass --kubeconfig FILE, --context NAME or --in-cluster, or list clusters in --config FILE',
      );
    for (const [i, source] of sources.entries()) {
      const flags = (name: string) => clusterFlags(selected.clusters[i], name);
      const work = checkSource<CheckedMigration>(source, {
        check: (name, access) =>
          checkMigration(name, access, { direction, controllers, clusterFlags: flags(name) }, ports),
        unusable: (cluster, failure) => ({ cluster, checks: [failure] }),
      });
      const terminal = { clock: systemClock, output: process.stderr };
      for (const checked of await showWait(`checking the clusters in ${source.about}`, work, terminal)) {
        print(
          process.stdout,
          output === 'json' ? `${JSON.stringify(flat(checked))}\n` : text(checked, columnsOf(process.stdout)),
        );
        const failed = checked.checks.some(({ result }) => result === 'failed');
        if (failed || checked.migration?.isUrgent !== false) process.exitCode = exitStatus.failure;
      }
    }
  });
}

const stages: Record<Migration['stage'], string> = {
  'kube-controller-manager': 'kube-controller-manager writes its endpoints',
  provider: "the provider's kube-controller-manager writes its endpoints",
  sluice: 'Sluice writes its endpoints',
  both: 'kube-controller-manager writes its endpoints, and a process of Sluice serves it too',
  nobody: 'nobody writes its endpoints',
  unknown: 'it is unknown who writes its endpoints',
};

/** The checks as a table, the stage with its reason, and the next steps. */
function text({ cluster, checks, distribution, migration }: CheckedMigration, width: number): string {
  const table = listChecks(checks, width);
  if (migration === undefined) return table;
  const { stage, why, next } = migration;
  const lines = [
    ...wrap(printableLine(`Cluster ${cluster} (${distribution}): ${stages[stage]}.`), width),
    ...wrap(printableLine(`Reason: ${why}.`), width),
    ...(next.length === 0 ? ['Nothing is left to do.'] : ['Next:']),
    ...next.flatMap((step, i) =>
      wrap(printableLine(`${i + 1}. ${step}`), width - 5).map((line, j) => `${j === 0 ? '  ' : '     '}${line}`),
    ),
  ];
  return `${table}\n${lines.join('\n')}\n`;
}

const flat = ({ migration, ...checked }: CheckedMigration) => ({ ...checked, ...migration });
