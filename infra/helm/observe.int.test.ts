import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ensureHelm } from '../local/src/index.ts';

/** How mode observe and a fleet that is recorded differ from the others; helm.int.test.ts tests what they have in common. */

const chart = import.meta.dirname;
const main = join(chart, '../../services/sluice/src/main.ts');
const root = mkdtempSync(join(tmpdir(), 'sluice-helm-observe-'));
const run = promisify(execFile);

interface Manifest {
  readonly kind: string;
  readonly rules?: readonly unknown[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: unknown;
  readonly volumeMounts: readonly unknown[];
  readonly securityContext: unknown;
}

interface PodSpec {
  readonly securityContext: unknown;
  readonly volumes: readonly unknown[];
  readonly containers: readonly [Container];
}

let helm: string;

beforeAll(async () => {
  helm = await ensureHelm();
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function render(...values: readonly string[]): Promise<readonly Manifest[]> {
  const set = ['mode=observe', ...values].join();
  const { stdout } = await run(helm, ['template', 'sluice', chart, '--namespace', 'sluice', '--set', set]);
  return (loadAll(stdout) as readonly (Manifest | null)[]).filter((one) => one !== null);
}

function ofKind(manifests: readonly Manifest[], kind: string): Manifest {
  const found = manifests.filter((one) => one.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as Manifest;
}

function podOf(manifests: readonly Manifest[]): PodSpec {
  const template = ofKind(manifests, 'Deployment').spec.template as { readonly spec: PodSpec };
  return template.spec;
}

/** The variables of the container. */
function environmentOf(manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  const own = podOf(manifests).containers[0].env.map(({ name, value }) => [name, value]);
  return { ...ofKind(manifests, 'ConfigMap').data, ...Object.fromEntries(own) };
}

const claim = (claimName: string) => ({ name: 'recording', persistentVolumeClaim: { claimName } });

/** One line per permission. */
const permissionsOf = ({ rules = [] }: Manifest) =>
  (rules as readonly Readonly<Record<string, readonly string[]>>[])
    .flatMap(({ apiGroups = [], resources = [], resourceNames = [''], verbs = [] }) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${apiGroups}/${resource} ${name}`)),
      ),
    )
    .toSorted();

it('has exactly the permissions of infra/kubernetes/observe.yaml', async () => {
  const documented = loadAll(readFileSync(join(chart, '../kubernetes/observe.yaml'), 'utf8')) as readonly Manifest[];
  const expected = permissionsOf(ofKind(documented, 'ClusterRole'));
  expect(permissionsOf(ofKind(await render(), 'ClusterRole'))).toEqual(expected);
});

it('has no Lease and no role in a namespace, and others reach the metrics only', async () => {
  const manifests = await render();
  expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
    'ClusterRole',
    'ClusterRoleBinding',
    'ConfigMap',
    'Deployment',
    'NetworkPolicy',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'Service',
    'ServiceAccount',
  ]);
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies.flatMap(({ spec }) => spec.ingress ?? [])).toMatchObject([{ ports: [{ port: 10270 }] }]);
  expect(podOf(manifests).containers[0].ports).toEqual([{ name: 'metrics', containerPort: 10270 }]);
  expect(environmentOf(manifests)).toMatchObject({
    SLUICE_METRICS_BIND_ADDRESS: ':10270',
    SLUICE_CONSOLE_BIND_ADDRESS: '127.0.0.1:10280',
  });
});

it('decides with its rules which problems count, also with an unquoted off', async () => {
  const file = join(root, 'values.yaml');
  const rules = ['- reason: NoReadyEndpoints', '  namespaces: [dev, "preview-*"]', '  severity: off'];
  writeFileSync(file, ['mode: observe', 'problems:', ...rules].join('\n'));
  const { stdout } = await run(helm, ['template', 'sluice', chart, '--namespace', 'sluice', '--values', file]);
  const manifests = loadAll(stdout) as readonly Manifest[];
  const [data = {}] = manifests.flatMap((one) => (one?.data?.['problems.yaml'] === undefined ? [] : [one.data]));
  // As the program reads it.
  expect(load(data['problems.yaml'] ?? '')).toEqual({
    problems: [{ reason: 'NoReadyEndpoints', namespaces: ['dev', 'preview-*'], severity: 'off' }],
  });
  const pod = podOf(manifests.filter((one) => one !== null));
  const mounted = { name: 'problems', mountPath: '/etc/sluice/problems', readOnly: true };
  expect(pod.volumes).toContainEqual({ name: 'problems', configMap: { name: 'sluice-problems' } });
  expect(pod.containers[0].volumeMounts).toContainEqual(mounted);
  expect(pod.containers[0].env).toContainEqual({
    ...{ name: 'SLUICE_RECORDING_PROBLEMS_CONFIG', value: '/etc/sluice/problems/problems.yaml' },
  });
});

it.each(['mode=allInOne', 'mode=shadow'])('%s has no recording in which problems are found', async (mode) => {
  await expect(render(mode, 'problems[0].reason=LateChange')).rejects.toThrow('problems: nothing is recorded');
});

it('lets one Pod at a time write to its volume, and to nothing else', async () => {
  const manifests = await render();
  expect(ofKind(manifests, 'Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  const pod = podOf(manifests);
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
  const [container] = pod.containers;
  expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  expect(container.volumeMounts).toEqual([
    { name: 'recording', mountPath: '/var/lib/sluice' },
    { name: 'tmp', mountPath: '/tmp' },
  ]);
});

it('starts a process with valid flags, which records to the volume and serves the page on loopback', async () => {
  const manifests = await render();
  const { args, volumeMounts } = podOf(manifests).containers[0];
  expect(volumeMounts).toContainEqual({ name: 'recording', mountPath: '/var/lib/sluice' });
  const here = args.map((arg) => arg.replace('=/var/lib/sluice/', `=${root}/`));
  const freePorts = Object.entries(environmentOf(manifests)).map(([name, value]) => [
    ...[name, name.endsWith('_BIND_ADDRESS') ? value.replace(/\d+$/, '0') : value],
  ]);
  const env = { ...process.env, ...Object.fromEntries(freePorts) };
  const observer = spawn(process.execPath, [main, ...here], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(observer, 'exit');
  let [printed, log] = ['', ''];
  observer.stdout.on('data', (text) => {
    printed += String(text);
  });
  observer.stderr.on('data', (text) => {
    log += String(text);
  });
  try {
    // Outside a Pod, only the service account is missing.
    await expect.poll(() => log).toContain('this is not a Pod');
    expect(existsSync(join(root, 'recording/lock.sqlite'))).toBe(true);
    await expect.poll(() => printed).toMatch(/^Console: http:\/\/127\.0\.0\.1:.*\nMetrics: http:\/\/localhost:/m);
    const [page = '', metrics = ''] = printed.match(/(?<=^\w+: )http:\/\/[\w.]+:\d+/gm) ?? [];
    const statuses = (url: string) =>
      Promise.all(['/', '/api/v1/overview', '/metrics'].map(async (path) => (await fetch(url + path)).status));
    expect(await statuses(page)).toEqual([200, 200, 200]);
    expect(await statuses(metrics)).toEqual([404, 404, 200]);
    observer.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    observer.kill('SIGKILL');
  }
});

describe('of a fleet', () => {
  const renderFleet = (...values: readonly string[]) =>
    render(
      'mode=workers',
      'bus.servers=tls://nats:4222',
      'store.url=rediss://redis',
      'recording.enabled=true',
      ...values,
    );

  it('the console records, with valid flags', async () => {
    const manifests = await renderFleet();
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
    const recording = deployments.filter(({ spec }) => JSON.stringify(spec).includes('/var/lib/sluice'));
    expect(recording).toHaveLength(1);
    const pod = podOf(recording);
    const [command, ...flags] = pod.containers[0].args;
    expect([command, pod.volumes]).toEqual(['console', expect.arrayContaining([claim('sluice-recording')])]);
    expect(recording[0]?.spec.strategy).toEqual({ type: 'Recreate' });
    expect(ofKind(manifests, 'PersistentVolumeClaim')).toBeDefined();
    const { stdout } = await run(process.execPath, [main, 'config', ...flags]);
    expect(stdout).toContain('/var/lib/sluice/recording');
  });

  it.each([
    ['components.console.replicas=2', 'one console records to a volume'],
    ['mode=allInOne', 'mode allInOne has no recording'],
  ])('%s is an error', async (value, reason) => {
    await expect(renderFleet(value)).rejects.toThrow(reason);
  });
});

describe('the recording is', () => {
  test('in a claim of the release', async () => {
    const manifests = await render('recording.size=20Gi', 'recording.storageClass=fast');
    expect(ofKind(manifests, 'PersistentVolumeClaim').spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '20Gi' } },
    });
    expect(podOf(manifests).volumes).toContainEqual(claim('sluice-recording'));
  });

  test.each([
    ['in an existing claim', 'recording.existingClaim=other', claim('other')],
    ['lost with the Pod', 'recording.persistent=false', { name: 'recording', emptyDir: { sizeLimit: '2Gi' } }],
  ])('%s', async (_, value, volume) => {
    const manifests = await render(value);
    expect(manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
    expect(podOf(manifests).volumes).toContainEqual(volume);
  });

  test('as large as the default of sluice observe', async () => {
    const { recording } = load(readFileSync(join(chart, 'values.yaml'), 'utf8')) as { readonly recording: object };
    const { stdout } = await run(process.execPath, [main, 'observe', '--help']);
    expect(recording).toMatchObject({
      maxBytes: /--recording-max-bytes[^-]*\(default (\w+)\)/.exec(stdout)?.[1],
      retention: /--recording-retention[^-]*\(default (\w+)\)/.exec(stdout)?.[1],
    });
  });
});
