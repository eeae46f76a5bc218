import type { Logger } from '@sluice/runtime';
import type { Command } from 'commander';
import { leaveSoon } from '../shut-down.ts';
import { createLogger } from '../system/logger.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { namesMany, runClusters } from './run-clusters.ts';
import { withConfiguration } from './run-configuration.ts';
import { runDistributed } from './run-distributed.ts';
import { runOneCluster } from './run-one-cluster.ts';
import { addRunOptions, checkRunOptions, type RunOptions } from './run-options.ts';
import { runShadow } from './run-shadow.ts';

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('keep Endpoints and EndpointSlices right, all services in this process')
    .description(
      'Runs watcher, reconciler and writer in this process, in the foreground until SIGINT or SIGTERM.\n' +
        'With no cluster named it runs against a simulated API server with a small living world in it.',
    );
  addRunOptions(command).action(async (options: RunOptions) => {
    const warnings: string[] = [];
    const configured = await withConfiguration(options, command, process.env, (warning) => warnings.push(warning));
    const logger = createLogger(configured.output === 'json' ? 'json' : 'text', configured.logLevel);
    for (const warning of warnings) logger.warn(warning);
    await run(configured, logger);
  });
}

async function run(options: RunOptions, logger: Logger): Promise<void> {
  checkRunOptions(options);
  const stop = stopSignal(options.for, logger);
  try {
    if (options.shadow) await runShadow(stop.stopped, options);
    else if (options.distributed) await runDistributed(stop.stopped, options);
    else if (namesMany(options)) await runClusters(stop.stopped, options);
    else await runOneCluster(stop.stopped, options);
  } finally {
    stop.cancel();
    leaveSoon(logger);
  }
}
