import { randomUUID } from 'node:crypto';
import {
  acceptCluster,
  type ClusterState,
  clusterSources,
  readClusterStates,
  StoredIdentities,
} from '@sluice/fleet/clusters';
import {
  columnsOf,
  createLogger,
  exitStatus,
  formatFields,
  formatTable,
  isUsageError,
  print,
  systemClock,
  systemRandom,
  UsageError,
} from '@sluice/platform/process';
import type { Command } from 'commander';
import { addConfiguredCommand, type Configuration, jsonLines, withFleet } from './configured-command.ts';
import { forgetCluster } from './forget-cluster.ts';

type Output = 'text' | 'json';

export function addClustersCommand(program: Command): void {
  const group = program
    .command('clusters')
    .summary('show which clusters are configured, and whether they can be served')
    .description(
      'Connects to each cluster that file, environment and flags name, and checks identity and permissions.\n' +
        'Exit status: 0, or 1 if a cluster cannot be served, or bus or store do not answer.',
    );
  add(group, 'list', 'list clusters by name', (states, _, output) =>
    output === 'json' ? jsonLines(states) : table(states),
  );
  add(group, 'show <name>', 'show one in detail', (states, [name], output) => {
    const found = states.filter((state) => state.name === name);
    if (found.length === 0) throw new UsageError(`cluster ${name} not found; run "sluice clusters list"`);
    return output === 'json' ? jsonLines(found) : found.map(describeCluster).join('\n');
  });
  addAccept(group);
  addForget(group);
}

function addForget(group: Command): void {
  const summary = 'remove what the fleet has stored of a cluster that is no longer configured, including its pins';
  const form = { usage: 'forget <name>', summary, formats: ['text', 'json'] as const };
  addConfiguredCommand<{ output: Output; dryRun?: boolean }>(
    group,
    form,
    async ({ configure, args: [name = ''], options }) => {
      const configuration = await configure();
      requireStore(configuration, 'stores its clusters');
      const { dryRun = false, output } = options;
      const sources = clusterSources(configuration, process.env, ports);
      const forgotten = await withFleet(configuration, (fleet) =>
        forgetCluster(name, { ...{ sources, fleet, dryRun }, member: `forget/${randomUUID()}`, clock: systemClock }),
      );
      if (output === 'json') return `${JSON.stringify({ ...forgotten, dryRun })}\n`;
      const { identities, pinned } = forgotten;
      const states = identities.length === 0 ? 'no state' : `the state of ${identities.join(', ')}`;
      const parts = `${states}${pinned ? ' and the pin of the name' : ''}`;
      return `Cluster ${name}: ${dryRun ? 'would remove' : 'removed'} ${parts}.\n`;
    },
  ).option('--dry-run', 'check what is stored, and change nothing');
}

function addAccept(group: Command): void {
  const summary = 'pin a cluster name to the identity that its server has now, and resolve its conflicts';
  const form = { usage: 'accept <name>', summary, formats: ['text', 'json'] as const };
  addConfiguredCommand<{ output: Output }>(group, form, async ({ configure, args: [name = ''], options }) => {
    const configuration = await configure();
    requireStore(configuration, 'pins cluster identities');
    const sources = clusterSources(configuration, process.env, ports);
    return withFleet(configuration, async ({ clusterPins }) => {
      const evidence = await acceptCluster(name, sources, new StoredIdentities(clusterPins), ports);
      if (options.output === 'json') return `${JSON.stringify({ name, ...evidence })}\n`;
      return `Cluster ${name} is pinned to ${evidence.identity} at ${evidence.server}. The fleet serves it within a minute.\n`;
    });
  });
}

function requireStore({ store }: Configuration, does: string): void {
  if (store.kind === 'memory')
    throw new UsageError(`a fleet ${does} in its store: pass --store redis://HOST, or --config FILE`);
}

const ports = { clock: systemClock, random: systemRandom, logger: createLogger('text', 'error') };

type Show = (states: readonly ClusterState[], names: readonly string[], output: Output) => string;

function add(group: Command, usage: string, summary: string, show: Show): void {
  const form = { usage, summary, formats: ['text', 'json'] as const };
  addConfiguredCommand<{ output: Output }>(group, form, async ({ configure, args, options }) => {
    const configuration = await configure();
    const states = await statesOf(configuration);
    if (states.some(({ phase }) => phase !== 'serving')) process.exitCode = exitStatus.failure;
    return show(states, args, options.output);
  });
}

/** States of the configured clusters, compared with the identities that the fleet's store pins if it can be read. */
async function statesOf(configuration: Configuration): Promise<readonly ClusterState[]> {
  const sources = clusterSources(configuration, process.env, ports);
  if (configuration.store.kind === 'memory') return readClusterStates(sources, ports);
  let pinned: string | null;
  try {
    pinned = await withFleet(configuration, ({ clusterPins }) => clusterPins.read());
  } catch (error) {
    if (!isUsageError(error)) throw error;
    print(process.stderr, `cluster identities are not compared with the pinned ones: ${error.message}\n`);
    // Without its store and bus, a fleet serves no cluster.
    process.exitCode = exitStatus.failure;
    return readClusterStates(sources, ports);
  }
  // A command that only reports stores nothing.
  const pins = { read: async () => pinned, replace: async () => true };
  return readClusterStates(sources, ports, new StoredIdentities(pins));
}

function table(states: readonly ClusterState[]): string {
  if (states.length === 0) return 'No clusters.\n';
  return formatTable(
    ['NAME', 'STATE', 'VERSION', 'IDENTITY', 'SERVER', 'REASON'],
    states.map(({ name, phase, version, identity, server, reason }) => [
      ...[name, stateOf(phase), version, identity, server, reason],
    ]),
    columnsOf(process.stdout),
  );
}

function describeCluster({ name, from, phase, reason, identity, server, version }: ClusterState): string {
  const fields = Object.entries({
    Name: name,
    From: from,
    State: stateOf(phase),
    Reason: reason,
    Identity: identity,
    Server: server,
    Version: version,
  });
  return formatFields(
    fields.filter(([, value]) => value !== ''),
    columnsOf(process.stdout),
  );
}

/** This command serves no cluster, so `serving` means that it could be served. */
const stateOf = (phase: ClusterState['phase']): string => (phase === 'serving' ? 'usable' : phase);
