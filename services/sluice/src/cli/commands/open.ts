import { addFlags } from '@sluice/fleet/configuration';
import { createLogger, exitSoon, stopSignal } from '@sluice/platform/process';
import { type Command, InvalidArgumentError } from 'commander';
import { runConfiguration } from './run-configuration.ts';
import type { OpenOptions } from './run-opened.ts';

export function addOpenCommand(program: Command): void {
  const command = program
    .command('open [recording]')
    .summary('serve a recording without its clusters')
    .description(
      'Serves the page and the HTTP API of a recording, in the foreground, until SIGINT or SIGTERM: a directory or one of\n' +
        'its files, by default those that "sluice observe" writes, also while it runs. "sluice explain", "sluice slow" and the\n' +
        'others then answer from it. With --at, kubectl reads the objects of that time from an API server on loopback. Services,\n' +
        'EndpointSlices and Endpoints are complete; Pods and Nodes have what endpoints depend on. It reads only the recording,\n' +
        'and changes nothing.\n' +
        'Exits with status 2 if the path contains no recording, or no such time.',
    )
    .option(
      '--at <time>',
      'also serve the objects of this time, e.g. 03:12, "5m ago" or 2026-03-01T03:12, relative to the end of the recording',
    )
    .option(
      '--speed <factor>',
      'play from there on: seconds of the recording per second (default: 0, stand still)',
      speed,
    )
    .option('--allow-writes', 'accept writes, which only this process keeps, to run controllers on the objects')
    .option('--identity-file <file>', 'private keys of age, to read a recording that is encrypted')
    .option('--write-kubeconfig <file>', 'where to write the kubeconfig for kubectl (default: a temporary file)');
  addFlags(command, 'Recording:', 'recording.problemsConfig');
  addFlags(command, 'Output:', 'console.bindAddress', 'metricsBindAddress', 'log.level');
  command.action(async (path: string | undefined, options: OpenOptions) => {
    const warnings: string[] = [];
    const configuration = await runConfiguration(command, process.env, (warning) => warnings.push(warning));
    const logger = createLogger('text', configuration.log.level);
    for (const warning of warnings) logger.warn(warning);
    const stop = stopSignal(undefined, logger);
    try {
      const { runOpened } = await import('./run-opened.ts');
      await runOpened(path, options, stop.stopped, { configuration, logger });
    } finally {
      stop.cancel();
      exitSoon(logger);
    }
  });
}

function speed(text: string): number {
  const factor = Number(text);
  if (text.trim() === '' || !(factor >= 0 && factor <= 10_000)) throw new InvalidArgumentError('expected 0 to 10000.');
  return factor;
}
