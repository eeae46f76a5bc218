import type { ClusterState } from '@sluice/clusters';
import { clusterSources, readClusterStates } from '@sluice/clusters';
import { createLogger, formatFields, formatTable, systemClock, systemRandom, UsageError } from '@sluice/process';
import type { Command } from 'commander';
import { addConfiguredCommand } from './configured-command.ts';

type Output = 'text' | 'json';

export function addClustersCommand(program: Command): void {
  const group = program
    .command('clusters')
    .summary('show which clusters are configured, and whether they can be served')
    .description(
      'Connects to each cluster that file, environment and flags name, and checks identity and permissions.',
    );
  add(group, 'list', 'list clusters by name', (states, _, output) =>
    output === 'json' ? jsonLines(states) : table(states),
  );
  add(group, 'show <name>', 'show one in detail', (states, [name], output) => {
    const found = states.filter((state) => state.name === name);
    if (found.length === 0) throw new UsageError(`cluster ${name} not found; run "sluice clusters list"`);
    return output === 'json' ? jsonLines(found) : found.map(describeCluster).join('\n');
  });
}

type Show = (states: readonly ClusterState[], names: readonly string[], output: Output) => string;

function add(group: Command, usage: string, summary: string, show: Show): void {
  const form = { usage, summary, formats: ['text', 'json'] as const };
  addConfiguredCommand<{ output: Output }>(group, form, async ({ configure, args, options }) => {
    const configuration = await configure();
    const ports = { clock: systemClock, random: systemRandom, logger: createLogger('text', 'error') };
    return show(
      await readClusterStates(clusterSources(configuration, process.env, ports), ports),
      args,
      options.output,
    );
  });
}

const jsonLines = (states: readonly ClusterState[]): string =>
  states.map((state) => `${JSON.stringify(state)}\n`).join('');

function table(states: readonly ClusterState[]): string {
  if (states.length === 0) return 'No clusters.\n';
  return formatTable(
    ['NAME', 'STATE', 'VERSION', 'IDENTITY', 'SERVER', 'REASON'],
    states.map(({ name, phase, version, identity, server, reason }) => [
      ...[name, stateOf(phase), version, identity, server, reason],
    ]),
  );
}

function describeCluster({ name, from, phase, reason, identity, server, version }: ClusterState): string {
  const fields = Object.entries({
    ...{ Name: name, From: from, State: stateOf(phase), Reason: reason },
    ...{ Identity: identity, Server: server, Version: version },
  });
  return formatFields(fields.filter(([, value]) => value !== ''));
}

/** This command serves no cluster, so `serving` means that it could be served. */
const stateOf = (phase: ClusterState['phase']): string => (phase === 'serving' ? 'usable' : phase);
