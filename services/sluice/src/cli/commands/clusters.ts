import type { ClusterState } from '@sluice/clusters';
import { clusterSources, readClusterStates } from '@sluice/clusters';
import { createLogger, systemClock, systemRandom, UsageError } from '@sluice/process';
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
    return output === 'json' ? jsonLines(found) : found.map(described).join('\n');
  });
}

type Show = (states: readonly ClusterState[], names: readonly string[], output: Output) => string;

function add(group: Command, usage: string, summary: string, show: Show): void {
  const form = { usage, summary, forms: ['text', 'json'] as const };
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
  const head = ['NAME', 'STATE', 'VERSION', 'IDENTITY', 'SERVER', 'REASON'];
  const rows = states.map(({ name, phase, version, identity, server, reason }) => [
    ...[name, shown(phase), version, identity, server, reason],
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return [head, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}

function described({ name, from, phase, reason, identity, server, version }: ClusterState): string {
  const lines = [
    ...[
      ['Name', name],
      ['From', from],
      ['State', shown(phase)],
      ['Reason', reason],
    ],
    ...[
      ['Identity', identity],
      ['Server', server],
      ['Version', version],
    ],
  ];
  return lines
    .filter(([, value]) => value !== '')
    .map(([title, value]) => `${`${title}:`.padEnd(11)}${value}\n`)
    .join('');
}

/** Here nothing is served: it could be. */
const shown = (phase: ClusterState['phase']): string => (phase === 'serving' ? 'usable' : phase);
