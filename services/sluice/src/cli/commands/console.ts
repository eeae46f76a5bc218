import { addConfigurationOptions, addConsoleOptions, addRecordingFlags } from '@sluice/fleet/configuration';
import { graceMs, marginMs } from '@sluice/platform/process';
import type { Command } from 'commander';
import { configuredRecorder } from '../../composition/configured-recorder.ts';
import { startConsoleRole } from '../../composition/roles/console-role.ts';
import { configure, runProcess } from './run-process.ts';

export function addConsoleCommand(program: Command): void {
  const command = program
    .command('console')
    .summary('serve the web console, history and read-only HTTP API of a fleet')
    .description(
      'Runs a console in the foreground until SIGINT or SIGTERM. It reads the messages of watchers, reconcilers and\n' +
        'writers from the bus and changes nothing; any number of consoles can run. With --recording-dir it also records\n' +
        'them. Serving on an address other than loopback requires a token and TLS.',
    );
  addRecordingFlags(addConsoleOptions(addConfigurationOptions(command))).action(async () => {
    const configured = await configure(command);
    const { configuration, reread, log } = configured;
    await runProcess(configured, log, {
      observes: true,
      async start(infrastructure, ports) {
        const recorder = await configuredRecorder(configuration, {
          ...ports,
          environment: process.env,
          isPaused: true,
        });
        const options = { infrastructure, configuration, reread, recorder, ...ports, logger: log };
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
