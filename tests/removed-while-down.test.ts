import { MemoryBus } from '@sluice/bus';
import { FakeApiServer, FakeClient, populate } from '@sluice/fake-apiserver';
import type { ConnectedCluster, EarlyConnections } from '@sluice/fleet/clusters';
import { resolve } from '@sluice/fleet/configuration/testing';
import type { ClusterAccess } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type Role, type RunningRole, startRole } from '@sluice/sluice';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryDocument, MemoryLeases, MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';

const clock = new VirtualClock(Date.UTC(2026, 0, 1));
const servers = new Map(
  ['east', 'west'].map((name, i) => [name, new FakeApiServer({ clock, random: seededRandom(i + 1) })]),
);
const store = new MemoryStore();
const clusterPins = new MemoryDocument();
const infrastructure = {
  ...{ store, clusterPins, bus: new MemoryBus({ partitions: 4 }), leases: new MemoryLeases(clock) },
  ...{ deadLetters: new MemoryDeadLetters(), directory: new MemoryClusterDirectory() },
};

function connectionsTo(names: readonly string[]): EarlyConnections {
  const candidates = names.map((name) => ({
    ...{ name, from: name, fingerprint: '', load: async () => ({ name }) as unknown as ClusterAccess },
  }));
  const open = async (_access: ClusterAccess, _signal: AbortSignal, name: string): Promise<ConnectedCluster> => {
    const server = servers.get(name);
    if (server === undefined) throw new Error(`no cluster ${name}`);
    const client = () => new FakeClient(server, { clock });
    return {
      ...{ name, identity: server.identity, server: `https://${name}`, version: '', record: () => {} },
      ...{ reader: client(), writer: client(), connection: undefined as never, close: async () => {} },
    };
  };
  const sources = [{ about: 'a directory', read: async () => ({ candidates, problems: [] }) }];
  return { sources, open } as unknown as EarlyConnections;
}

function start(role: Role, member: string, clusters: readonly string[]): RunningRole {
  const { configuration } = resolve({ flags: { '--kubeconfig': 'unused', '--metrics-bind-address': '0' } });
  const ports = { clock, random: seededRandom(3), logger: silentLogger };
  const connections = connectionsTo(clusters);
  return startRole({ role, member, infrastructure, configuration, environment: {}, connections, ...ports });
}

/** Runs a watcher and a reconciler for a while. */
async function run(name: string, clusters: readonly string[], ms: number): Promise<void> {
  const roles = [start('watcher', `${name}-watcher`, clusters), start('reconciler', `${name}-reconciler`, [])];
  await advance(clock, ms);
  const stopped = Promise.all(roles.map((role) => role.stop(1_000)));
  await advance(clock, 10_000);
  await stopped;
}

function entriesOf(name: string): number {
  const identity = servers.get(name)?.identity ?? '';
  const scopes = [...Array.from({ length: 4 }, (_, partition) => `reconciler/${partition}`), `watcher/${identity}`];
  return scopes.flatMap((scope) => store.peek(scope).entries).filter(({ key }) => key.startsWith(identity)).length;
}

test('the state of a cluster that was removed from the configuration while no process ran is dropped', async () => {
  for (const server of servers.values()) populate(server, { services: 6, podsPerService: 2, now: clock.now() });
  await run('a', ['east', 'west'], 30_000);
  const before = entriesOf('east');
  expect([before > 20, entriesOf('west') > 20]).toEqual([true, true]);
  await run('b', ['east'], 60_000);
  expect([entriesOf('west'), entriesOf('east') >= before]).toEqual([0, true]);
  expect((await infrastructure.directory.list()).map(({ name }) => name)).toEqual(['east']);
  // The name still belongs to the cluster, until an operator decides otherwise.
  expect(await clusterPins.read()).toContain('"west"');
});
