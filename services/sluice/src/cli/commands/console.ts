import { clusterSources } from '@sluice/fleet/clusters';
import {
  addConfigurationOptions,
  addConsoleOptions,
  addRecordingFlags,
  type Configuration,
} from '@sluice/fleet/configuration';
import { graceMs, marginMs, UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { configuredRecorder } from '../../composition/configured-recorder.ts';
import { startConsoleRole } from '../../composition/roles/console-role.ts';
import { ReviewingClusters } from '../../composition/roles/reviewing-clusters.ts';
import { selectsCluster } from './run-options.ts';
import { configure, runProcess } from './run-process.ts';

export function addConsoleCommand(program: Command): void {
  const command = program
    .command('console')
    .summary('serve the web console, history and read-only HTTP API of a fleet')
    .description(
      'Runs a console in the foreground until SIGINT or SIGTERM. It reads the messages of watchers, reconcilers and\n' +
        'writers from the bus and changes nothing; any number of consoles can run. With --recording-dir it also records\n' +
        'them. Serving on an address other than loopback requires TLS and a token. With --console-authorization-mode\n' +
        'cluster, readers have tokens of their own, which the clusters of the configuration review.',
    );
  addRecordingFlags(addConsoleOptions(addConfigurationOptions(command))).action(async () => {
    const configured = await configure(command);
    const { configuration, reread, log } = configured;
    checkReviewing(configuration);
    await runProcess(configured, log, {
      observes: true,
      async start(infrastructure, ports) {
        const recorder = await configuredRecorder(configuration, {
          ...ports,
          environment: process.env,
          isPaused: true,
        });
        const { clusterPins } = infrastructure;
        const reviewing = reviewingClusters(configuration, { ...ports, clusterPins });
        const options = { infrastructure, configuration, reviewing, reread, recorder, ...ports, logger: log };
        const running = await startConsoleRole(options).catch(async (error: unknown) => {
          await recorder?.close();
          throw error;
        });
        log.info('started', { role: 'console', url: running.url });
        return {
          done: running.done,
          stop: [
            { component: 'console', graceMs, stop: () => running.stop() },
            { component: 'recording', graceMs: marginMs, stop: () => recorder?.close() },
          ],
        };
      },
    });
  });
}

/** @throws UsageError if nobody can review the access of readers */
export function checkReviewing(configuration: Configuration): void {
  if (configuration.console.authorizationMode !== 'cluster' || selectsCluster(configuration)) return;
  throw new UsageError(
    'console.authorizationMode is cluster, but this console knows no cluster that reviews the access of readers: configure clusters or --cluster-secrets as for its watchers, or use console.token',
  );
}

function reviewingClusters(
  configuration: Configuration,
  options: Omit<ConstructorParameters<typeof ReviewingClusters>[0], 'sources'>,
): ReviewingClusters | undefined {
  if (configuration.console.authorizationMode !== 'cluster') return undefined;
  return new ReviewingClusters({ ...options, sources: clusterSources(configuration, process.env, options) });
}
