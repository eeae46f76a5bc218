import { createLogger, leaveSoon, stopSignal } from '@sluice/process';
import type { Logger } from '@sluice/runtime';
import type { Command } from 'commander';
import { namesMany } from './many-clusters.ts';
import { withConfiguration } from './run-configuration.ts';
import { addRunOptions, checkRunOptions, type RunOptions } from './run-options.ts';

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
    await (await program(options))(stop.stopped, options);
  } finally {
    stop.cancel();
    leaveSoon(logger);
  }
}

/** What runs by these options; the others are not loaded. */
async function program(options: RunOptions): Promise<(stopped: Promise<void>, options: RunOptions) => Promise<void>> {
  if (options.shadow) return (await import('./run-shadow.ts')).runShadow;
  if (options.distributed) return (await import('./run-distributed.ts')).runDistributed;
  if (namesMany(options)) return (await import('./run-clusters.ts')).runClusters;
  return (await import('./run-one-cluster.ts')).runOneCluster;
}
