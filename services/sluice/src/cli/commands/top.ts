import { listActivity, textFormatFor } from '@sluice/console/terminal';
import { print, systemClock, UsageError } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, sinceOf, waitForConsole } from './client-for.ts';
import { addListOutput, addNamespaces, checkNamespaces, type ListOptions, printYaml } from './list-options.ts';

interface Options extends ConsoleOptions, ListOptions {
  readonly since: string;
  readonly cluster?: string;
  readonly sortBy: string;
  readonly limit: string;
  readonly output: 'table' | 'json' | 'yaml';
}

const kinds = { services: 'service', clusters: 'cluster' } as const;

export function addTopCommand(program: Command): void {
  const command = program
    .command('top [what]')
    .summary('the Services or clusters that are written most')
    .description(
      'Lists the Services (or, with the argument clusters, the clusters) whose endpoints were written most: how often, how many\n' +
        'endpoints, and how long it took from the cause of a write to its end. Needs a console.\n' +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    )
    .option('--since <time>', 'how far back: a duration such as 1h, or a time', '5m')
    .option('--cluster <name>', 'only the cluster with this name or UID')
    .addOption(
      new Option('--sort-by <field>', 'order').choices(['writes', 'latency', 'endpoints', 'failed']).default('writes'),
    )
    .option('--limit <n>', 'maximum number of lines, up to 1000', '20');
  addListOutput(addConsoleAddress(addNamespaces(command))).action(async (what = 'services', options: Options) => {
    checkNamespaces(options);
    if (!Object.hasOwn(kinds, what)) {
      throw new UsageError(`top lists services or clusters, not ${JSON.stringify(what)}`);
    }
    const by = kinds[what as keyof typeof kinds];
    const { cluster, namespace, sortBy: sort, limit, output } = options;
    const client = clientFor(options, { wait: waitForConsole });
    const found = await client.activity({ since: sinceOf(options.since), cluster, namespace, by, sort, limit });
    if (output === 'yaml') return printYaml(found);
    const format = textFormatFor(process.stdout, systemClock.now());
    print(process.stdout, output === 'json' ? `${JSON.stringify(found)}\n` : listActivity(found, by, format));
  });
}
