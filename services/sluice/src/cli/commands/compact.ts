import { randomUUID } from 'node:crypto';
import { inRange } from '@sluice/fleet/configuration';
import type { ServiceKey } from '@sluice/messages';
import { columnsOf, formatTable, systemClock, UsageError } from '@sluice/platform/process';
import { type FoundCompaction, findCompactions } from '@sluice/reconciler';
import type { Command } from 'commander';
import { requestCompaction } from '../../composition/operator-requests.ts';
import { addConfiguredCommand, type Configuration, jsonLines, withFleet } from './configured-command.ts';

interface Options {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly maxWrites: number;
  readonly dryRun?: boolean;
  readonly output: 'table' | 'json';
}

export function addCompactCommand(program: Command): void {
  const form = {
    usage: 'compact',
    summary: 'merge EndpointSlices that churn has left partly empty',
    description:
      'Moves the endpoints of partly empty EndpointSlices of a fleet into as few slices as hold them, with as few moves\n' +
      'as possible. Reconcilers decide and writers write; no endpoint is missing at any time. Without a\n' +
      'fleet, start "sluice run" with --compaction-writes-per-hour.',
    formats: ['table', 'json'] as const,
    waitingFor: 'looking for slices to merge',
  };
  addConfiguredCommand<Options>(program, form, async ({ configure, options }) => compact(await configure(), options))
    .option('--cluster <name>', 'only the cluster with this name or uid')
    .option('-n, --namespace <name>', 'only this namespace')
    .option('--max-writes <n>', 'updates and deletes in total', inRange('--max-writes', 2, 1_000_000), 1_000)
    .option('--dry-run', 'only show what would be merged');
}

async function compact(configuration: Configuration, options: Options): Promise<string> {
  if (configuration.store.kind === 'memory') {
    throw new UsageError(
      'compact needs the bus and store of a fleet; with "sluice run", use --compaction-writes-per-hour',
    );
  }
  return withFleet(configuration, async ({ bus, store, directory }) => {
    const names = new Map((await directory.list()).map(({ identity, name }) => [identity, name]));
    const matches = ({ cluster, namespace }: ServiceKey) =>
      [cluster, names.get(cluster), undefined].includes(options.cluster) &&
      (options.namespace ?? namespace) === namespace;
    const { maxEndpointsPerSlice } = configuration.controllers;
    const found = await findCompactions(store, { partitions: bus.partitions, maxEndpointsPerSlice, matches });
    const chosen = withinLimit(found, options.maxWrites);
    if (!options.dryRun) {
      const requestedAt = systemClock.now();
      for (const { key, maxWrites } of chosen)
        await requestCompaction(bus, key, { maxWrites, requestedAt, id: randomUUID() });
    }
    return options.output === 'json' ? jsonOf(chosen, options) : tableOf(chosen, found.length, names, options);
  });
}

interface ChosenCompaction extends FoundCompaction {
  readonly maxWrites: number;
}

/** The first ones that fit into the total number of writes. */
function withinLimit(found: readonly FoundCompaction[], maxWrites: number): readonly ChosenCompaction[] {
  const chosen: ChosenCompaction[] = [];
  let left = maxWrites;
  for (const one of found) {
    const { writes } = one.compaction;
    if (writes > left) continue;
    left -= writes;
    chosen.push({ ...one, maxWrites: writes });
  }
  return chosen;
}

const headings = ['CLUSTER', 'NAMESPACE', 'SERVICE', 'SLICES', 'AFTER', 'MOVED', 'WRITES'] as const;

function tableOf(
  chosen: readonly ChosenCompaction[],
  found: number,
  names: ReadonlyMap<string, string>,
  { dryRun }: Options,
): string {
  if (found === 0) return 'No slices to merge.\n';
  const rows = chosen.map(
    ({ key: { cluster, namespace, service }, slices, compaction: { removed, moved, writes } }) => [
      ...[names.get(cluster) ?? cluster, namespace, service],
      ...[slices, slices - removed, moved, writes].map(String),
    ],
  );
  const total = (count: (one: ChosenCompaction) => number) => chosen.reduce((sum, one) => sum + count(one), 0);
  const [before, removed] = [total(({ slices }) => slices), total(({ compaction }) => compaction.removed)];
  const counts = `${chosen.length} Services: ${before} slices become ${before - removed} with ${total(({ maxWrites }) => maxWrites)} writes`;
  const rest = found > chosen.length ? `; ${found - chosen.length} more Services exceed --max-writes` : '';
  return `${formatTable(headings, rows, columnsOf(process.stdout))}${counts}${rest}${dryRun ? ' (dry run)' : ', requested'}.\n`;
}

function jsonOf(chosen: readonly ChosenCompaction[], { dryRun = false }: Options): string {
  return jsonLines(
    chosen.map(({ key, slices, compaction: { removed, moved, writes } }) => {
      return { ...key, slices, after: slices - removed, moved, writes, requested: !dryRun };
    }),
  );
}
