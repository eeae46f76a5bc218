import { createLogger, exitSoon, stopSignal } from '@sluice/process';
import type { Logger } from '@sluice/runtime';
import type { Command } from 'commander';
import { withConfiguration } from './run-configuration.ts';
import { addRunOptions, checkRunOptions, type RunOptions } from './run-options.ts';

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('run all services in one process')
    .description(
      'Runs watcher, reconciler and writer in one process in the foreground, until SIGINT or SIGTERM.\n' +
        'Without a cluster it runs a demo: a fake API server with a small simulated cluster.',
    );
  addRunOptions(command).action(async (options: RunOptions) => {
    const warnings: string[] = [];
    const mode = options.dryRun ? { ...options, shadow: true } : options;
    const configured = await withConfiguration(mode, command, process.env, (warning) => warnings.push(warning));
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
    exitSoon(logger);
  }
}

/** Loads only the mode that the options select. */
async function program(options: RunOptions): Promise<(stopped: Promise<void>, options: RunOptions) => Promise<void>> {
  if (options.shadow) return (await import('./run-shadow.ts')).runShadow;
  if (options.distributed) return (await import('./run-distributed.ts')).runDistributed;
  return (await import('./run-all-in-one.ts')).runAllInOne;
}
