import { findService, printRollout, qualified, textFormatFor } from '@sluice/console/terminal';
import { print, systemClock } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, sinceOf, untilOf, waitForConsole } from './client-for.ts';

interface Options extends ConsoleOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly since?: string;
  readonly until?: string;
  readonly output: 'text' | 'json';
}

export function addRolloutCommand(program: Command): void {
  const command = program
    .command('rollout <[namespace/]service>')
    .summary('how the Pods of a Service were over time, by ReplicaSet')
    .description(
      'Draws a belt for each Pod of a Service: when it was ready, not ready or terminating, below the controller that owns it.\n' +
        'Needs "sluice observe", "sluice open" or "sluice run --recording-dir".\n' +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    )
    .option('-n, --namespace <name>', 'namespace, if the argument names only the Service')
    .option('--cluster <name>', 'name or UID of the cluster, if several have the Service')
    .option(
      '--since <duration>',
      'how far back, e.g. 1h or 30m, or since when, e.g. 14:02 (default: the whole recording)',
    )
    .option('--until <time>', 'until when, e.g. 14:05 (default: now)')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  addConsoleAddress(command).action(rollout);
}

async function rollout(text: string, options: Options): Promise<void> {
  const period = { since: sinceOf(options.since), until: untilOf(options.until) };
  const client = clientFor(options, { wait: waitForConsole });
  const overview = await client.overview();
  const service = qualified(text, options.namespace);
  const name = await findService(client, overview, service, options.cluster);
  const found = await client.rollout(name, period);
  if (options.output === 'json') return print(process.stdout, `${JSON.stringify(found)}\n`);
  const cluster = overview.clusters.find((one) => one.identity === name.cluster)?.name ?? name.cluster;
  const format = textFormatFor(process.stdout, systemClock.now());
  print(process.stdout, printRollout(`Pods of Service ${service} in ${cluster}`, found, format));
}
