import { listOutages, textFormatFor } from '@sluice/console/terminal';
import { print, systemClock } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, sinceOf, waitForConsole } from './client-for.ts';

interface Options extends ConsoleOptions {
  readonly since: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly output: 'table' | 'json';
}

export function addOutagesCommand(program: Command): void {
  const command = program
    .command('outages')
    .summary('when Services had no ready endpoint')
    .description(
      'Lists when Services had no ready endpoint in their slices, how long, and the last event before. A Service without\n' +
        'a selector or with no Pods counts as well. Needs "sluice observe" or "sluice open".\n' +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    )
    .option('--since <duration>', 'how far back, e.g. 1h or 30m', '24h')
    .option('--cluster <name>', 'only the cluster with this name or UID')
    .option('-n, --namespace <name>', 'only this namespace')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'));
  addConsoleAddress(command).action(async ({ since, cluster, namespace, output, ...address }: Options) => {
    const client = clientFor(address, { wait: waitForConsole });
    const outages = await client.outages({ since: sinceOf(since), cluster, namespace });
    const lines = outages.map((outage) => `${JSON.stringify(outage)}\n`);
    const format = textFormatFor(process.stdout, systemClock.now());
    print(process.stdout, output === 'json' ? lines.join('') : listOutages(outages, format));
  });
}
