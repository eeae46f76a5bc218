import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '@sluice/configuration';
import { isUsageError } from '@sluice/process';
import { defaultSettings } from '@sluice/service-state';
import { Command } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { withConfiguration } from './run-configuration.ts';
import { addRunOptions, checkRunOptions, type RunOptions } from './run-options.ts';
import { selectsCluster, selectsManyClusters } from './selects-many-clusters.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-run-configuration-'));
const file = join(directory, 'sluice.yaml');

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function options(yaml: string, args: readonly string[], environment: Environment = {}): Promise<RunOptions> {
  writeFileSync(file, yaml);
  const command = addRunOptions(new Command('run')).exitOverride();
  command.parse(args, { from: 'user' });
  return withConfiguration(command.opts<RunOptions>(), command, environment, () => {});
}

const all = `
clusters: [{ name: here, kubeconfig: here.kubeconfig, context: sluice }]
controllers: { enabled: endpointslice-controller, maxEndpointsPerSlice: 50, endpointUpdatesBatchPeriod: 1s }
traces: { endpoint: 'http://127.0.0.1:4318', ratio: 0.5 }
log: { level: warn }
metricsBindAddress: '127.0.0.1:9'
`;

test('the file sets what flags do not set', async () => {
  expect(await options(all, ['--config', file])).toMatchObject({
    kubeconfig: join(directory, 'here.kubeconfig'),
    context: 'sluice',
    controllers: new Set(['endpointslice']),
    maxEndpointsPerSlice: 50,
    mirroringMaxEndpointsPerSubset: defaultSettings.maxEndpointsPerSubset,
    endpointUpdatesBatchPeriod: 1_000,
    otlpEndpoint: 'http://127.0.0.1:4318/v1/traces',
    traceRatio: 0.5,
    logLevel: 'warn',
    metricsBindAddress: { address: { host: '127.0.0.1', port: 9 } },
  });
});

test('file < environment < flags', async () => {
  const environment = { SLUICE_CONFIG: file, SLUICE_LOG_LEVEL: 'error', SLUICE_TRACES_RATIO: '0.25' };
  const flags = ['--trace-ratio', '1', '--max-endpoints-per-slice', '7', '--metrics-bind-address', '0', '--in-cluster'];
  const found = await options(all, flags, environment);
  expect(found).toMatchObject({ logLevel: 'error', traceRatio: 1, maxEndpointsPerSlice: 7, inCluster: true });
  expect(found.metricsBindAddress).toEqual({ address: null });
  // A cluster from a flag replaces the file's.
  expect(found.kubeconfig).toBeUndefined();
});

describe('several clusters', () => {
  const two = 'clusters: [{ name: a, kubeconfig: a }, { name: b, inCluster: true }]\n';
  const a = { name: 'a', kubeconfig: join(directory, 'a') };

  test('come from the file and from Secrets', async () => {
    const { named } = await options(`${two}clusterSecrets: { selector: a=b }`, ['--config', file]);
    expect(named).toEqual({
      clusters: [a, { name: 'b', inCluster: true }],
      clusterSecrets: { selector: 'a=b', namespace: 'sluice' },
    });
  });

  test('from flags replace those of the file', async () => {
    const secrets = ['--config', file, '--cluster-secrets', 'c=d', '--cluster-secrets-namespace', 'n'];
    expect((await options(two, secrets)).named).toMatchObject({
      clusters: [a, { name: 'b' }],
      clusterSecrets: { selector: 'c=d', namespace: 'n' },
    });
    const one = await options(two, ['--config', file, '--kubeconfig', 'other']);
    expect(one.named).toBeUndefined();
    expect(one.kubeconfig).toBe('other');
  });

  test('are rejected with shadow mode and with the simulated cluster', async () => {
    for (const [flag, message] of [
      ['--shadow', 'compares one cluster'],
      ['--distributed', 'simulated cluster'],
      ['--seed=1', 'simulated cluster only'],
    ] as const) {
      const given = (await options(two, ['--config', file, flag])) as RunOptions;
      expect(() => checkRunOptions(given)).toThrow(message);
    }
  });
});

test('--distributed refuses an address that it would ignore', () => {
  const command = addRunOptions(new Command('run')).exitOverride();
  command.parse(['--distributed', '--metrics-bind-address', '127.0.0.1:1'], { from: 'user' });
  expect(() => checkRunOptions(command.opts<RunOptions>())).toThrow('prints the address of its console');
});

test.each([
  [[], 'requires one cluster'],
  [['--distributed'], 'requires one cluster'],
  [['--shadow', '--in-cluster'], 'requires one cluster that Sluice writes to'],
  [['--cluster-secrets', 'a=b'], 'one Deployment per cluster'],
  [['--in-cluster', '--leader-elect-renew-deadline', '20s'], '--leader-elect-lease-duration must be greater'],
])('--leader-elect with %j is refused', (args, message) => {
  const command = addRunOptions(new Command('run')).exitOverride();
  command.parse(['--leader-elect', ...args], { from: 'user' });
  expect(() => checkRunOptions(command.opts<RunOptions>())).toThrow(message);
});

test('--leader-elect is accepted for one cluster', () => {
  const command = addRunOptions(new Command('run')).exitOverride();
  command.parse(['--leader-elect', '--in-cluster'], { from: 'user' });
  expect(() => checkRunOptions(command.opts<RunOptions>())).not.toThrow();
});

test('without a file, the environment is ignored', async () => {
  expect(await options(all, [], { SLUICE_LOG_LEVEL: 'error' })).toMatchObject({ logLevel: 'info' });
});

test.each([
  ["bus: { servers: 'nats://n' }", /sets a bus: run "sluice watcher"/],
  ["bus: { servers: 'nats://n' }\nstore: { url: 'redis://r' }", /sets a bus and a store: run/],
  [
    'clusters: [{ name: a, kubeconfig: a }, { name: a, kubeconfig: b }]',
    /clusters\[1\]\.name is "a", which is already the name/,
  ],
  ['clusterSecrets: { selector: a=b, context: c }', /clusterSecrets\.context.* is set without a kubeconfig/],
  ['log: { level: loud }', /log\.level/],
])('%s is refused', async (yaml, message) => {
  const refused = options(yaml, ['--config', file]);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toSatisfy(isUsageError);
});

describe('the cluster of a run', () => {
  const parsed = (...args: string[]) => {
    const command = addRunOptions(new Command('run')).exitOverride();
    command.parse(args, { from: 'user' });
    return command.opts<RunOptions>();
  };

  test.each<[readonly string[], boolean, boolean]>([
    [[], false, false],
    [['--seed', '1'], false, false],
    [['--context', 'west'], true, false],
    [['--context', 'west,east'], true, true],
    [['--context', '*'], true, true],
    [['--kubeconfig', 'k'], true, false],
    [['--in-cluster'], true, false],
    [['--shadow'], false, false],
  ])('%j: a real cluster %j, several %j', (args, cluster, many) => {
    const given = parsed(...args);
    expect(() => checkRunOptions(given)).not.toThrow();
    expect([selectsCluster(given), selectsManyClusters(given)]).toEqual([cluster, many]);
  });

  test.each([
    [['--in-cluster', '--context', 'west'], '--in-cluster and --context are mutually exclusive'],
    [['--context', 'west', '--seed', '1'], '--seed is for the simulated cluster only'],
    [['--context', 'west', '--distributed'], '--distributed runs the simulated cluster'],
  ])('%j is rejected', (args, message) => {
    expect(() => checkRunOptions(parsed(...args))).toThrow(message);
  });
});
