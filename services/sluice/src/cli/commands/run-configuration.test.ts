import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration, Environment } from '@sluice/fleet/configuration';
import { createLogger, isUsageError } from '@sluice/platform/process';
import { defaultSettings } from '@sluice/service-state';
import { Command } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { checkReviewing } from './console.ts';
import { runConfiguration } from './run-configuration.ts';
import { runOpened } from './run-opened.ts';
import {
  addRunOptions,
  checkRun,
  type Run,
  type RunOptions,
  selectsCluster,
  selectsManyClusters,
} from './run-options.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-run-configuration-'));
const file = join(directory, 'sluice.yaml');

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function called(args: readonly string[], environment: Environment = {}): Promise<Run> {
  const command = addRunOptions(new Command('run')).exitOverride();
  command.parse(args, { from: 'user' });
  const configuration = await runConfiguration(command, environment, () => {});
  return { ...command.opts<RunOptions>(), configuration };
}

async function options(yaml: string, args: readonly string[], environment: Environment = {}): Promise<Configuration> {
  writeFileSync(file, yaml);
  return (await called(args, environment)).configuration;
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
    clusters: [{ name: 'here', kubeconfig: join(directory, 'here.kubeconfig'), context: 'sluice' }],
    controllers: {
      enabled: new Set(['endpointslice']),
      maxEndpointsPerSlice: 50,
      mirroringMaxEndpointsPerSubset: defaultSettings.maxEndpointsPerSubset,
      endpointUpdatesBatchPeriod: 1_000,
    },
    traces: { endpoint: 'http://127.0.0.1:4318/v1/traces', ratio: 0.5 },
    log: { level: 'warn' },
    metricsBindAddress: { host: '127.0.0.1', port: 9 },
  });
});

test('file < environment < flags', async () => {
  const environment = { SLUICE_CONFIG: file, SLUICE_LOG_LEVEL: 'error', SLUICE_TRACES_RATIO: '0.25' };
  const flags = ['--trace-ratio', '1', '--max-endpoints-per-slice', '7', '--metrics-bind-address', '0', '--in-cluster'];
  const found = await options(all, flags, environment);
  expect(found).toMatchObject({ log: { level: 'error' }, traces: { ratio: 1 }, metricsBindAddress: null });
  expect(found.controllers.maxEndpointsPerSlice).toBe(7);
  // A cluster from a flag replaces the file's.
  expect(found.clusters).toEqual([{ inCluster: true }]);
});

describe('several clusters', () => {
  const two = 'clusters: [{ name: a, kubeconfig: a }, { name: b, inCluster: true }]\n';
  const a = { name: 'a', kubeconfig: join(directory, 'a') };

  test('come from the file and from Secrets', async () => {
    const { clusters, clusterSecrets } = await options(`${two}clusterSecrets: { selector: a=b }`, ['--config', file]);
    expect({ clusters, clusterSecrets }).toEqual({
      clusters: [a, { name: 'b', inCluster: true }],
      clusterSecrets: { selector: 'a=b', namespace: 'sluice' },
    });
  });

  test('from flags replace those of the file', async () => {
    const secrets = ['--config', file, '--cluster-secrets', 'c=d', '--cluster-secrets-namespace', 'n'];
    expect(await options(two, secrets)).toMatchObject({
      clusters: [a, { name: 'b' }],
      clusterSecrets: { selector: 'c=d', namespace: 'n' },
    });
    const one = await options(two, ['--config', file, '--kubeconfig', 'other']);
    expect(one.clusters).toEqual([{ kubeconfig: 'other' }]);
  });

  test('are rejected with the simulated cluster', async () => {
    for (const [flag, message] of [
      ['--distributed', 'simulated cluster'],
      ['--seed=1', 'simulated cluster only'],
    ] as const) {
      writeFileSync(file, two);
      const given = await called(['--config', file, flag]);
      expect(() => checkRun(given)).toThrow(message);
    }
  });
});

test('--shadow accepts several clusters, and its report only with it', async () => {
  const given = await called(['--shadow', '--context', 'a,b']);
  expect(() => checkRun(given)).not.toThrow();
  const report = await called(['--shadow-report', 'report.json']);
  expect(() => checkRun(report)).toThrow('--shadow-report requires --shadow');
});

test.each(['--metrics-bind-address', '--console-bind-address'])('--distributed refuses %s', async (flag) => {
  const given = await called(['--distributed', flag, '127.0.0.1:1']);
  expect(() => checkRun(given)).toThrow('prints the address of its console');
});

test.each([
  [[], 'requires one cluster'],
  [['--distributed'], 'requires one cluster'],
  [['--shadow', '--in-cluster'], 'requires one cluster that Sluice writes to'],
  [['--cluster-secrets', 'a=b'], 'one Deployment per cluster'],
  [['--in-cluster', '--leader-elect-renew-deadline', '20s'], '--leader-elect-lease-duration must be greater'],
])('--leader-elect with %j is refused', async (args, message) => {
  const given = await called(['--leader-elect', ...args]);
  expect(() => checkRun(given)).toThrow(message);
});

test('--leader-elect is accepted for one cluster', async () => {
  const given = await called(['--leader-elect', '--in-cluster']);
  expect(() => checkRun(given)).not.toThrow();
});

describe('--console-authorization-mode cluster', () => {
  const mode = ['--console-authorization-mode', 'cluster'];

  test.each([[], ['--distributed']])('needs a cluster that reviews readers: refused with %j', async (...args) => {
    const given = await called([...mode, ...args]);
    expect(() => checkRun(given)).toThrow('requires a console and a cluster that reviews');
  });

  test.each([[], ['--shadow']])('is accepted for clusters, with %j', async (...args) => {
    const given = await called([...mode, '--in-cluster', ...args]);
    expect(() => checkRun(given)).not.toThrow();
  });

  test('is refused in a console of a fleet that knows no cluster, and in one without clusters', async () => {
    const { configuration } = await called(mode);
    expect(() => checkReviewing(configuration)).toThrow(/knows no cluster that reviews .*: configure clusters/);
    expect(() => checkReviewing({ ...configuration, clusters: [{ inCluster: true }] })).not.toThrow();
    const context = { configuration, logger: createLogger('text', 'error') };
    await expect(runOpened('/none', {}, Promise.resolve(), context)).rejects.toThrow('served without its clusters');
  });
});

test('without a file, the environment is ignored, except in a Pod', async () => {
  const environment = { SLUICE_LOG_LEVEL: 'error' };
  expect(await options(all, [], environment)).toMatchObject({ log: { level: 'info' } });
  expect(await options(all, ['--in-cluster'], environment)).toMatchObject({ log: { level: 'error' } });
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
  test.each<[readonly string[], boolean, boolean]>([
    [[], false, false],
    [['--seed', '1'], false, false],
    [['--context', 'west'], true, false],
    [['--context', 'west,east'], true, true],
    [['--context', '*'], true, true],
    [['--kubeconfig', 'k'], true, false],
    [['--in-cluster'], true, false],
    [['--shadow'], false, false],
  ])('%j: a real cluster %j, several %j', async (args, cluster, many) => {
    const given = await called(args);
    expect(() => checkRun(given)).not.toThrow();
    expect([selectsCluster(given.configuration), selectsManyClusters(given.configuration)]).toEqual([cluster, many]);
  });

  test.each([
    [['--in-cluster', '--context', 'west'], '--in-cluster and --context are mutually exclusive'],
    [['--context', 'west', '--seed', '1'], '--seed is for the simulated cluster only'],
    [['--context', 'west', '--clusters', '3'], '--clusters is for simulated clusters only'],
    [['--clusters', '0'], '--clusters must be a number from 1 to 16'],
    [['--clusters', 'three'], '--clusters must be a number from 1 to 16'],
    [['--clusters', '3', '--shadow'], '--clusters cannot be combined with --shadow'],
    [['--clusters', '3', '--distributed'], '--clusters cannot be combined with --distributed'],
    [['--context', 'west', '--distributed'], '--distributed runs the simulated cluster'],
    [['--namespaces', 'a'], '--namespaces and --exclude-namespaces require a cluster that Sluice writes to'],
    [['--shadow', '--in-cluster', '--namespaces', 'a'], 'require a cluster that Sluice writes to'],
    [
      ['--take-over'],
      '--take-over requires a cluster that Sluice writes to, and $KUBECONFIG and ~/.kube/config select',
    ],
    [['--shadow', '--take-over'], '--take-over requires a cluster'],
    [['--use-service-account-credentials'], '--use-service-account-credentials requires a cluster'],
  ])('%j is rejected', async (args, message) => {
    await expect(called(args).then(checkRun)).rejects.toThrow(message);
  });
});
