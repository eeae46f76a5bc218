import { addFlags, addRecordingFlags, durationFlag } from '@sluice/fleet/configuration';
import { createLogger, exitSoon, stopSignal } from '@sluice/platform/process';
import type { Command } from 'commander';
import { namespacesFlag, withObservedClusters } from './observed-clusters.ts';
import { runConfiguration } from './run-configuration.ts';

export function addObserveCommand(program: Command): void {
  const clusters = 'Clusters:';
  const command = program
    .command('observe')
    .summary('record and explain the endpoints of any cluster, and write nothing')
    .description(
      'Watches clusters beside their own controllers, in the foreground, until SIGINT or SIGTERM. It only lists and\n' +
        'watches Services, Pods, Nodes, Endpoints and EndpointSlices. "sluice explain", "sluice history" and the page then\n' +
        'say why an endpoint came or went. Without a flag, it observes the current context of kubectl. With --namespace,\n' +
        'it reads no other namespace and no Nodes, so that a Role is enough.',
    )
    .optionsGroup(clusters)
    .option('--config <file>', 'configuration file (YAML); flags take precedence; default $SLUICE_CONFIG');
  addFlags(command, clusters, 'cluster.kubeconfig', 'cluster.context', 'clusterSecrets', 'cluster.inCluster');
  command.option(
    '-n, --namespace <name,...>',
    'observe only these namespaces, without Nodes; repeatable',
    namespacesFlag,
  );
  addRecordingFlags(command);
  command.optionsGroup('Output:').option('--for <duration>', 'stop after this time, e.g. 20s or 1m30s', durationFlag);
  addFlags(command, 'Output:', 'log.level', 'console.bindAddress', 'console.authorizationMode', 'metricsBindAddress');
  command.action(async (options: { readonly for?: number; readonly namespace?: readonly string[] }) => {
    const warnings: string[] = [];
    const given = await runConfiguration(command, process.env, (warning) => warnings.push(warning));
    const configuration = withObservedClusters(given, options.namespace);
    const logger = createLogger(configuration.log.format, configuration.log.level);
    for (const warning of warnings) logger.warn(warning);
    const stop = stopSignal(options.for, logger);
    try {
      const { runObserver } = await import('./run-observer.ts');
      await runObserver(stop.stopped, configuration, logger);
    } finally {
      stop.cancel();
      exitSoon(logger);
    }
  });
}
