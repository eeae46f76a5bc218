import { addFlags } from '@sluice/fleet/configuration';
import { createLogger, exitSoon, stopSignal } from '@sluice/platform/process';
import type { Command } from 'commander';
import { runConfiguration } from './run-configuration.ts';

export function addOpenCommand(program: Command): void {
  const command = program
    .command('open <recording>')
    .summary('serve a recording without its clusters')
    .description(
      'Serves the page and the HTTP API of a recording, in the foreground, until SIGINT or SIGTERM: a directory or one of\n' +
        'its files. "sluice explain", "sluice slow" and the others then answer from it. It reads only the recording, and changes\n' +
        'nothing.\nExits with status 2 if the path contains no recording.',
    );
  addFlags(command, 'Output:', 'metricsBindAddress', 'log.level');
  command.action(async (path: string) => {
    const warnings: string[] = [];
    const configuration = await runConfiguration(command, process.env, (warning) => warnings.push(warning));
    const logger = createLogger('text', configuration.log.level);
    for (const warning of warnings) logger.warn(warning);
    const stop = stopSignal(undefined, logger);
    try {
      const { runOpened } = await import('./run-opened.ts');
      await runOpened(path, stop.stopped, configuration, logger);
    } finally {
      stop.cancel();
      exitSoon(logger);
    }
  });
}
