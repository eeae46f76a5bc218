import { readPartitions } from '@sluice/console';
import { logsOf, type OpenInfrastructure, type PartitionGenerations, repartition } from '@sluice/fleet/roles';
import { columnsOf, formatTable, systemClock, UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { addConfiguredCommand, jsonLines, withFleet } from './configured-command.ts';

interface Options {
  readonly output: 'table' | 'json';
  readonly dryRun?: boolean;
}

type Shares = Awaited<ReturnType<typeof readPartitions>>;

const largest = 4096;

export function addPartitionsCommand(program: Command): void {
  const group = program
    .command('partitions')
    .summary('show and change the number of partitions of a fleet')
    .description(
      'The number of partitions is the maximum number of workers that have work. See docs/guides/repartition.md.',
    );
  const formats = ['table', 'json'] as const;
  const list = {
    ...{ usage: 'list', formats },
    summary: 'list the generations of partitions, and who has each current one and is how far behind',
  };
  addConfiguredCommand<Options>(group, list, async ({ configure, options }) => {
    const configuration = await configure();
    return withFleet(configuration, async (fleet) =>
      listed(fleet.generation.all, configuration.fleet, options, await readPartitions(fleet)),
    );
  });
  const set = { usage: 'set <number>', summary: 'change the number of partitions while the fleet runs', formats };
  addConfiguredCommand<Options>(group, set, async ({ configure, args: [text = ''], options }) => {
    const partitions = Number(text);
    if (!Number.isInteger(partitions) || partitions < 1 || partitions > largest) {
      throw new UsageError(`invalid number of partitions ${text}; expected 1 to ${largest}`);
    }
    const configuration = await configure();
    const { dryRun = false } = options;
    const change = (fleet: OpenInfrastructure) => repartition({ ...fleet, clock: systemClock }, partitions, { dryRun });
    const all = await withFleet(configuration, change);
    if (options.output === 'json') return listed(all, configuration.fleet, options);
    return describe(all, configuration.fleet, dryRun);
  }).option('--dry-run', 'check bus and store, and change nothing');
}

function describe(all: PartitionGenerations, fleet: string, dryRun: boolean): string {
  const last = all.length - 1;
  const { partitions = 0, since } = all[last] ?? {};
  const former = all.findLastIndex((generation) => generation.since !== since);
  if (dryRun) return `The fleet would change to ${partitions} partitions, in the logs of ${logsOf(fleet, last)}.\n`;
  return (
    `The fleet changes to ${partitions} partitions within seconds, in the logs of ${logsOf(fleet, last)}.\n` +
    `Set --partitions ${partitions} in its configuration. The logs of ${logsOf(fleet, former)} keep the history until it expires.\n`
  );
}

function listed(all: PartitionGenerations, fleet: string, { output }: Options, shares: Shares = []): string {
  const rows = all.map(({ partitions, since }, generation) => ({
    generation,
    partitions,
    logs: logsOf(fleet, generation),
    ...(since > 0 && { since: new Date(since).toISOString() }),
    current: generation === all.length - 1,
    ...(generation === all.length - 1 && shares.length > 0 && { shares }),
  }));
  if (output === 'json') return jsonLines(rows);
  const generations = formatTable(
    ['GENERATION', 'PARTITIONS', 'SINCE', 'LOGS', 'CURRENT'],
    rows.map((row) => [
      ...[String(row.generation), String(row.partitions), row.since ?? ''],
      ...[row.logs, row.current ? 'yes' : ''],
    ]),
    columnsOf(process.stdout),
  );
  return shares.length === 0 ? generations : `${generations}\n${listShares(shares, columnsOf(process.stdout))}`;
}

export const listShares = (shares: Shares, width: number): string =>
  formatTable(
    ['PARTITION', 'RECONCILER', 'LAG', 'WRITER', 'LAG'],
    shares.map(({ partition, owner, lag, writer }) => [
      ...[String(partition), owner || 'nobody', lag === null ? 'unknown' : String(lag)],
      ...[writer.owner || 'nobody', writer.lag === null ? 'unknown' : String(writer.lag)],
    ]),
    width,
  );
