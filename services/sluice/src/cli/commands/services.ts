import type { ConsoleClient } from '@sluice/console/client';
import { listLogicalServices, listServices, textFormatFor } from '@sluice/console/terminal';
import { print, systemClock, UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, waitForConsole } from './client-for.ts';
import { addOutput } from './service-options.ts';

interface Options extends ConsoleOptions {
  readonly allClusters?: true;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly without?: string;
  readonly problems?: true;
  readonly output: 'table' | 'json';
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
    .option('-n, --namespace <name>', 'only this namespace');
  addOutput(addConsoleAddress(command), 'table', 'json').action(async (options: Options) => {
    checkOptions(options);
    const client = clientFor(options, { wait: waitForConsole });
    await (options.allClusters ? listJoined(client, options) : listEach(client, options));
  });
}

function checkOptions({ allClusters, without, cluster }: Options): void {
  if (without !== undefined && !allClusters) throw new UsageError('--without needs --all-clusters');
  if (cluster !== undefined && allClusters) {
    throw new UsageError('--cluster selects one cluster and --all-clusters joins all; remove one of them');
  }
}

async function listJoined(client: ConsoleClient, { namespace, without, problems, output }: Options): Promise<void> {
  const found = await client.logicalServices({ namespace, without, limit, severity: problems && 'warning' });
  const format = textFormatFor(process.stdout, systemClock.now());
  const none = problems ? 'Nothing is wrong with any Service.\n' : 'No such Service in any cluster.\n';
  print(process.stdout, output === 'json' ? `${JSON.stringify(found)}\n` : listLogicalServices(found, format, none));
}

async function listEach(client: ConsoleClient, { cluster, namespace, problems, output }: Options): Promise<void> {
  const [found, { servicesLimit }] = await Promise.all([
    client.services({ cluster, namespace, limit }),
    client.overview(),
  ]);
  const items = problems ? found.items.filter(({ status }) => !healthy.has(status)) : found.items;
  const shown = { ...found, items, total: problems ? items.length : found.total };
  const format = textFormatFor(process.stdout, systemClock.now());
  print(process.stdout, output === 'json' ? `${JSON.stringify(shown)}\n` : listServices(shown, format, servicesLimit));
}

const healthy: ReadonlySet<string> = new Set(['ok', 'pending', 'unmanaged']);
