import { addConfigurationOptions, addConsoleOptions } from '@sluice/fleet/configuration';
import { graceMs } from '@sluice/platform/process';
import type { Command } from 'commander';
import { startConsoleRole } from '../../composition/roles/console-role.ts';
import { configure, runProcess } from './run-process.ts';

export function addConsoleCommand(program: Command): void {
  const command = program
    .command('console')
    .summary('serve the web console, history and read-only HTTP API of a fleet')
    .description(
      'Runs a console in the foreground until SIGINT or SIGTERM. It reads the messages of watchers, reconcilers and\n' +
        'writers from the bus and changes nothing; any number of consoles can run. Serving on an address other than\n' +
        'loopback requires a token and TLS.',
    );
  addConsoleOptions(addConfigurationOptions(command)).action(async () => {
    const configured = await configure(command);
    const { configuration, reread, log } = configured;
    await runProcess(configured, log, {
      observes: true,
      async start(infrastructure, ports) {
        const running = await startConsoleRole({ infrastructure, configuration, reread, ...ports, logger: log });
        log.info('started', { role: 'console', url: running.url });
        return { done: running.done, stop: [{ component: 'console', graceMs, stop: () => running.stop() }] };
      },
    });
  });
}
