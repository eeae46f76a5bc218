import { openInfrastructure } from '@sluice/backends';
import { addConfigurationOptions, addConsoleOptions, configurationOf } from '@sluice/configuration';
import {
  closing,
  createLogger,
  exitSoon,
  graceMs,
  shutDown,
  stopSignal,
  systemClock,
  systemRandom,
} from '@sluice/process';
import type { Command } from 'commander';
import { startConsoleRole } from '../../composition/roles/console-role.ts';
import { retryUntilConnected } from '../../composition/roles/retry-until-connected.ts';

export function addConsoleCommand(program: Command): void {
  const command = program
    .command('console')
    .summary('serve the web console, history and read-only HTTP API of a fleet')
    .description(
      'Runs a console in the foreground until SIGINT or SIGTERM. It reads the messages of watchers, reconcilers and\n' +
        'writers from the bus and changes nothing; any number of consoles can run. Serving on an address other than\n' +
        'loopback requires a token and TLS.',
    );
  addConsoleOptions(addConfigurationOptions(command)).action(() => run(command));
}

async function run(command: Command): Promise<void> {
  const warnings: string[] = [];
  const configuration = await configurationOf(command, process.env, (warning) => warnings.push(warning));
  const logger = createLogger(configuration.log.format, configuration.log.level);
  for (const warning of warnings) logger.warn(warning);
  const ports = { clock: systemClock, random: systemRandom, logger };
  const stop = stopSignal(undefined, logger);
  const infrastructure = await retryUntilConnected(() => openInfrastructure(configuration, ports), ports, stop.stopped);
  if (infrastructure === undefined) {
    exitSoon(logger);
    return logger.info('stopped before connecting to bus and store');
  }
  try {
    const running = await startConsoleRole({ infrastructure, configuration, ...ports });
    logger.info('started', { role: 'console', url: running.url });
    try {
      await Promise.race([stop.stopped, running.done]);
    } finally {
      await shutDown([{ component: 'console', graceMs, stop: () => running.stop() }], ports);
    }
  } finally {
    await shutDown([closing(infrastructure)], ports);
    stop.cancel();
    exitSoon(logger);
  }
}
