import { randomUUID } from 'node:crypto';
import { findByName, findParked, matchesFilter, type ParkedFilter, type ParkedKey, toParkedKey } from '@sluice/console';
import { describeParked, listParked, parkedJson, textFormatFor } from '@sluice/console/terminal';
import type { OpenInfrastructure } from '@sluice/fleet/roles';
import { formatServiceKey, type ServiceKey } from '@sluice/messages';
import { printableLine, systemClock, UsageError } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import { releaseParked, retryParked } from '../../composition/operator-requests.ts';
import { clientFor, defaultUrl } from './client-for.ts';
import { addConfiguredCommand, jsonLines, withFleet } from './configured-command.ts';

interface Options extends ParkedFilter {
  readonly output: 'table' | 'json';
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly console?: string;
  readonly consoleTokenFile?: string;
}

/** Runs on the fleet and returns what to print. */
type Action = (
  fleet: OpenInfrastructure,
  parked: readonly ParkedKey[],
  names: readonly string[],
  options: Options,
) => Promise<string> | string;

export function addParkedCommand(program: Command): void {
  const group = program
    .command('parked')
    .summary('list and retry Services whose writes the API server rejects')
    .description(
      'A Service whose writes the API server rejects is parked with the reason. It is retried with its next\n' +
        'change, at every resync, after one to two minutes, and by the command retry. A Service is named\n' +
        'NAMESPACE/SERVICE or CLUSTER/NAMESPACE/SERVICE, the cluster by its name or the uid of its namespace kube-system.',
    );
  const list = add(group, 'list', 'list parked Services', (_fleet, parked, _names, options) => listed(parked, options));
  list
    .option('--cluster <name>', 'only the cluster with this name or uid')
    .option('-n, --namespace <name>', 'only this namespace');
  list
    .addOption(
      new Option(
        '--console <url>',
        `use this console instead of bus and store (default: ${defaultUrl} if no bus and store are configured)`,
      ).env('SLUICE_CONSOLE'),
    )
    .option(
      '--console-token-file <file>',
      'file with the bearer token of the console (default: $SLUICE_CONSOLE_TOKEN or $SLUICE_CONSOLE_TOKEN_FILE)',
    );
  add(group, 'show <service>', 'show one in detail', (_fleet, parked, names, { output }) => {
    const found = find(parked, names);
    return output === 'json'
      ? found.map(parkedJson).join('')
      : found.map((key) => describeParked(key, format())).join('\n');
  });
  addRequestCommand(group, 'retry', 'retry them now, by requesting a resync', ({ bus }, key) =>
    retryParked(bus, key, randomUUID()),
  );
  addRequestCommand(
    group,
    'release',
    'release held-back removals and additions of endpoints without checking the cluster',
    (fleet, key) => releaseParked(fleet.bus, key, systemClock.now(), randomUUID()),
  );
}

function listed(parked: readonly ParkedKey[], { output, cluster, namespace }: Options): string {
  const wanted = parked.filter((key) =>
    matchesFilter(key, { ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) }),
  );
  return output === 'json' ? wanted.map(parkedJson).join('') : listParked(wanted, format());
}

const format = () => textFormatFor(process.stdout, systemClock.now());

/** Adds a command that sends a request for each given Service. */
function addRequestCommand(
  group: Command,
  name: string,
  summary: string,
  request: (fleet: OpenInfrastructure, key: ServiceKey) => Promise<void>,
): void {
  const command = add(
    group,
    `${name} [service...]`,
    summary,
    async (fleet, parked, names, { output, all, dryRun = false }) => {
      if (names.length === 0 && !all) throw new UsageError(`name the Services to ${name}, or pass --all`);
      const wanted = all ? parked : find(parked, names);
      const services = new Map(wanted.map((one) => [formatServiceKey(one.key), one]));
      if (!dryRun) for (const { key } of services.values()) await request(fleet, key);
      if (output === 'json') return jsonLines([...services.keys()].map((service) => ({ service, requested: !dryRun })));
      if (services.size === 0) return 'No parked Services.\n';
      return [...services.values()]
        .map(
          ({ key, clusterName = key.cluster }) =>
            `${printableLine(`${clusterName}/${key.namespace}/${key.service}`)} ${name} ${dryRun ? 'would be requested' : 'requested'}\n`,
        )
        .join('');
    },
  );
  command.option('--all', 'all parked Services').option('--dry-run', `only show what ${name} would be requested for`);
}

function add(group: Command, usage: string, summary: string, action: Action): Command {
  const form = { usage, summary, formats: ['table', 'json'] as const };
  return addConfiguredCommand<Options>(group, form, async ({ configure, args, options }) => {
    const fromConsole = async (url: string) => {
      const parked = await clientFor({ ...options, console: url }).parked();
      return listed(parked.map(toParkedKey), options);
    };
    if (options.console !== undefined) return fromConsole(options.console);
    const configuration = await configure();
    // Without a fleet, the parked Services are those of a sluice run on this machine.
    if (usage === 'list' && configuration.store.kind === 'memory') return fromConsole(defaultUrl);
    return withFleet(configuration, async (fleet) => {
      const names = new Map((await fleet.directory.list()).map(({ identity, name }) => [identity, name]));
      const parked = await findParked(fleet.store, fleet.bus.partitions);
      const named = parked.map((key) => ({ ...key, ...nameOf(names.get(key.key.cluster)) }));
      return action(fleet, named, args, options);
    });
  });
}

const nameOf = (clusterName: string | undefined) => (clusterName === undefined ? {} : { clusterName });

function find(parked: readonly ParkedKey[], names: readonly string[]): readonly ParkedKey[] {
  return names.flatMap((name) => {
    const found = findByName(parked, name);
    if (found.length === 0) throw new UsageError(`${name} is not parked; run "sluice parked list"`);
    return found;
  });
}
