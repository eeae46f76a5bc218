import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ensureHelm } from '../local/src/index.ts';

/** How mode observe differs from the other modes; helm.int.test.ts tests what they have in common. */

const chart = import.meta.dirname;
const main = join(chart, '../../services/sluice/src/main.ts');
const root = mkdtempSync(join(tmpdir(), 'sluice-helm-observe-'));
const run = promisify(execFile);

interface Manifest {
  readonly kind: string;
  readonly rules?: readonly unknown[];
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly unknown[];
  readonly ports?: unknown;
  readonly volumeMounts: readonly unknown[];
  readonly securityContext: unknown;
  readonly livenessProbe: { readonly exec: { readonly command: readonly string[] } };
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

it('has no Lease, no role in a namespace, and nothing by which others reach the page', async () => {
  const manifests = await render();
  expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
    'ClusterRole',
    'ClusterRoleBinding',
    'ConfigMap',
    'Deployment',
    'NetworkPolicy',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'ServiceAccount',
  ]);
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies.filter(({ spec }) => spec.ingress !== undefined)).toEqual([]);
  const [container] = podOf(manifests).containers;
  expect(container.env).toContainEqual({ name: 'SLUICE_METRICS_BIND_ADDRESS', value: '127.0.0.1:10270' });
  expect(container.ports).toBeUndefined();
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

it('starts a process with valid flags, which records to the volume', async () => {
  const { args, volumeMounts } = podOf(await render()).containers[0];
  expect(volumeMounts).toContainEqual({ name: 'recording', mountPath: '/var/lib/sluice' });
  const here = args.map((arg) => arg.replace('=/var/lib/sluice/', `=${root}/`));
  const env = { ...process.env, SLUICE_METRICS_BIND_ADDRESS: '127.0.0.1:0' };
  const observer = spawn(process.execPath, [main, ...here], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(observer, 'exit');
  let log = '';
  observer.stderr.on('data', (text) => {
    log += String(text);
  });
  try {
    // Outside a Pod, only the service account is missing.
    await expect.poll(() => log).toContain('this is not a Pod');
    expect(existsSync(join(root, 'recording/lock.sqlite'))).toBe(true);
    observer.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    observer.kill('SIGKILL');
  }
});

describe('the recording is', () => {
  const claim = (claimName: string) => ({ name: 'recording', persistentVolumeClaim: { claimName } });

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

test.each([
  [200, 'ok', 0],
  [503, '[-]caches/prod failed', 1],
])('a probe that is answered with %i prints %j and exits with %s', async (status, text, code) => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/livez' ? status : 404).end(text);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const [, ...args] = podOf(await render()).containers[0].livenessProbe.exec.command;
    const probe = run(
      process.execPath,
      args.map((arg) => arg.replace(':10270', `:${port}`)),
    );
    const outcome = await probe.catch((error: { readonly code: number; readonly stdout: string }) => error);
    expect({ code: 0, ...outcome }).toMatchObject({ code, stdout: `${text}\n` });
  } finally {
    server.close();
  }
});
