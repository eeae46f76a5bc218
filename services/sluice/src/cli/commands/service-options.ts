import type { ConsoleClient, ServiceName } from '@sluice/console/client';
import { findService, qualified } from '@sluice/console/terminal';
import { type Command, Option } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, waitForConsole } from './client-for.ts';

/** Flags of a command that asks a console about one Service. */
export interface ServiceOptions extends ConsoleOptions {
  readonly namespace?: string;
  readonly cluster?: string;
}

export function addServiceOptions(command: Command): Command {
  return addConsoleAddress(
    command.option(
      '-n, --namespace <name>',
      'namespace, if the argument names only the Service (default: that of the context)',
    ),
  ).option('--cluster <name>', 'name or UID of the cluster, if several have the Service');
}

export const addOutput = (command: Command, ...formats: readonly [standard: string, ...others: string[]]): Command =>
  command.addOption(new Option('-o, --output <format>', 'output format').choices(formats).default(formats[0]));

/** `whole` and `end`: what the period is by default. */
export function addPeriod(command: Command, whole: string, end = 'now'): Command {
  const since = `how far back, e.g. 1h or 30m, or since when, e.g. 14:02 (default: ${whole})`;
  return command
    .option('--since <duration>', since)
    .option('--until <time>', `until when, e.g. 14:05 (default: ${end})`);
}

/** `NAMESPACE/SERVICE`. A Service without a namespace is in that of kubectl's context. */
export async function qualifiedName(text: string, { namespace, context }: ServiceOptions): Promise<string> {
  if (namespace !== undefined || text.includes('/')) return qualified(text, namespace);
  // Loaded on demand: most calls name the namespace.
  const { defaultNamespace } = await import('@sluice/kubernetes');
  return qualified(text, await defaultNamespace(process.env, context));
}

interface AskedService {
  readonly client: ConsoleClient;
  readonly name: ServiceName;
  /** `Service shop/web in prod`, for people. */
  readonly title: string;
}

/** The Service that the argument and the flags name. */
export async function askedService(text: string, options: ServiceOptions): Promise<AskedService> {
  const client = clientFor(options, { wait: waitForConsole });
  const overview = await client.overview();
  const service = await qualifiedName(text, options);
  const name = await findService(client, overview, service, options.cluster);
  const cluster = overview.clusters.find(({ identity }) => identity === name.cluster)?.name ?? name.cluster;
  return { client, name, title: `Service ${service} in ${cluster}` };
}
