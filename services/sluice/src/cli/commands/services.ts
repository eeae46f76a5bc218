import type { ConsoleClient } from '@sluice/console/client';
import { listLogicalServices, listServices, textFormatFor } from '@sluice/console/terminal';
import { print, printableLine, systemClock, UsageError } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, waitForConsole } from './client-for.ts';
import { addListOutput, addNamespaces, checkNamespaces, type ListOptions, printYaml } from './list-options.ts';

interface Options extends ConsoleOptions, ListOptions {
  readonly allClusters?: true;
  readonly cluster?: string;
  readonly without?: string;
  readonly problems?: true;
  readonly selector?: string;
  readonly sortBy?: string;
  readonly output: 'table' | 'wide' | 'name' | 'json' | 'yaml';
}

/** The most that a console answers at once. */
const limit = 1_000;

export function addServicesCommand(program: Command): void {
  const command = program
    .command('services')
    .summary('Services in each cluster, or joined over all clusters')
    .description(
      'Lists the Services of each cluster with their endpoints. With --all-clusters, Services of the same namespace and name\n' +
        'are one: how many endpoints are ready in how many clusters, what differs, and what is wrong, the most severe first.\n' +
        'Needs a console.\nExits with status 1 if there is no answer, and 2 for invalid arguments.',
    )
    .option('--all-clusters', 'join the Services of all clusters')
    .option('--without <cluster>', 'with --all-clusters: as if this cluster were lost')
    .option('--problems', 'only Services of which something is wrong')
    .option('--cluster <name>', 'only the cluster with this name or UID')
    .option('-l, --selector <labels>', 'only Services with these labels, e.g. app=web,tier!=front')
    .addOption(
      new Option('--sort-by <field>', 'order (default: name)').choices([
        'name',
        'problem',
        'changed',
        'ready',
        'latency',
      ]),
    );
  addListOutput(addConsoleAddress(addNamespaces(command)), 'wide', 'name').action(async (options: Options) => {
    checkOptions(options);
    const client = clientFor(options, { wait: waitForConsole });
    await (options.allClusters ? listJoined(client, options) : listEach(client, options));
  });
}

function checkOptions(options: Options): void {
  const { allClusters, without, cluster, selector, sortBy } = options;
  checkNamespaces(options);
  if (without !== undefined && !allClusters) throw new UsageError('--without needs --all-clusters');
  const ofEach = { '--selector': selector, '--sort-by': sortBy };
  for (const [flag, value] of Object.entries(ofEach)) {
    if (value !== undefined && allClusters) {
      throw new UsageError(`${flag} and --all-clusters exclude each other; remove one of them`);
    }
  }
  if (cluster !== undefined && allClusters) {
    throw new UsageError('--cluster selects one cluster and --all-clusters joins all; remove one of them');
  }
}

async function listJoined(client: ConsoleClient, { namespace, without, problems, output }: Options): Promise<void> {
  const found = await client.logicalServices({ namespace, without, limit, severity: problems && 'warning' });
  if (output === 'yaml') return printYaml(found);
  if (output === 'name') return print(process.stdout, listNames(found.items));
  const format = textFormatFor(process.stdout, systemClock.now());
  const none = problems ? 'Nothing is wrong with any Service.\n' : 'No such Service in any cluster.\n';
  print(process.stdout, output === 'json' ? `${JSON.stringify(found)}\n` : listLogicalServices(found, format, none));
}

/** Each name once, to paste or complete. */
function listNames(items: readonly { readonly namespace: string; readonly name: string }[]): string {
  const names = new Set(items.map(({ namespace, name }) => printableLine(`${namespace}/${name}`)));
  return [...names].map((name) => `${name}\n`).join('');
}

async function listEach(client: ConsoleClient, options: Options): Promise<void> {
  const { cluster, namespace, selector: labelSelector, sortBy: sort, problems, output } = options;
  const [found, { servicesLimit }] = await Promise.all([
    client.services({ cluster, namespace, labelSelector, sort, limit }),
    client.overview(),
  ]);
  const items = problems ? found.items.filter(({ status }) => !healthy.has(status)) : found.items;
  const shown = { ...found, items, total: problems ? items.length : found.total };
  if (output === 'yaml') return printYaml(shown);
  if (output === 'name') return print(process.stdout, listNames(shown.items));
  const format = textFormatFor(process.stdout, systemClock.now());
  const text = () => listServices(shown, format, { isWide: output === 'wide', servicesLimit });
  print(process.stdout, output === 'json' ? `${JSON.stringify(shown)}\n` : text());
}

const healthy: ReadonlySet<string> = new Set(['ok', 'rolling', 'pending', 'unmanaged']);
