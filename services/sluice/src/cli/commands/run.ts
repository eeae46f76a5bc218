import { createLogger, exitSoon, type RootLogger, stopSignal } from '@sluice/platform/process';
import type { Command } from 'commander';
import { runConfiguration } from './run-configuration.ts';
import { addRunOptions, checkRun, type Run, type RunOptions } from './run-options.ts';

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
    const configuration = await runConfiguration(command, process.env, (warning) => warnings.push(warning));
    const logger = createLogger(options.output === 'json' ? 'json' : configuration.log.format, configuration.log.level);
    for (const warning of warnings) logger.warn(warning);
    await start({ ...options, configuration, ...(options.dryRun && { shadow: true }) }, logger);
  });
}

async function start(run: Run, logger: RootLogger): Promise<void> {
  checkRun(run);
  const { directory = 'none' } = run.configuration.recording;
  if (directory !== 'none' && (run.shadow || run.distributed)) {
    logger.warn('recording disabled: --shadow and --distributed do not record', { directory });
  }
  const stop = stopSignal(run.for, logger);
  try {
    await (await program(run))(stop.stopped, run, logger);
  } finally {
    stop.cancel();
    exitSoon(logger);
  }
}

/** Loads only the mode that the flags select. */
async function program(run: Run): Promise<(stopped: Promise<void>, run: Run, logger: RootLogger) => Promise<void>> {
  if (run.shadow) return (await import('./run-shadow.ts')).runShadow;
  if (run.distributed) return (await import('./run-distributed.ts')).runDistributed;
  return (await import('./run-all-in-one.ts')).runAllInOne;
}
