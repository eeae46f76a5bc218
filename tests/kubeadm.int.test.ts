import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enablesControllers } from '@sluice/kubernetes/preflight';
import { ensureBinaries, KUBERNETES_VERSION } from '@sluice/local';
import { load } from 'js-yaml';
import { beforeAll, expect, test } from 'vitest';

/** The patch of docs/guides/migrate.md, rendered by kubeadm itself. */
const guide = readFileSync(new URL('../docs/guides/migrate.md', import.meta.url), 'utf8');
let kubeadm: string;

beforeAll(async () => {
  kubeadm = (await ensureBinaries()).kubeadm;
});

/** The flag `--controllers` in the static Pod that kubeadm writes. */
function controllersFlag(clusterConfiguration: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-kubeadm-'));
  try {
    const config = join(directory, 'kubeadm.yaml');
    writeFileSync(config, `${clusterConfiguration}\nkubernetesVersion: ${KUBERNETES_VERSION}\n`);
    const args = ['init', 'phase', 'control-plane', 'controller-manager', '--dry-run', '--config', config];
    execFileSync(kubeadm, args, { env: { ...process.env, KUBEADM_INIT_DRYRUN_DIR: directory }, stdio: 'pipe' });
    const pod = load(readFileSync(join(directory, 'kube-controller-manager.yaml'), 'utf8')) as {
      spec: { containers: [{ command: string[] }] };
    };
    return pod.spec.containers[0].command.find((flag) => flag.startsWith('--controllers=')) ?? '';
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const section = (title: string): string => guide.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const block = (title: string): string => section(title).split('```yaml\n')[1]?.split('```')[0] ?? '';

test('kubeadm keeps its two extra controllers and switches the three off', () => {
  const before = controllersFlag('apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration');
  const extra = before.replace('--controllers=', '').split(',');
  expect(extra).toEqual(['*', 'bootstrapsigner', 'tokencleaner']);
  expect(enablesControllers([before])).toBe(true);

  const after = controllersFlag(block('kubeadm'));
  expect(after.replace('--controllers=', '').split(',')).toEqual(expect.arrayContaining(extra));
  expect(enablesControllers([after])).toBe(false);
});

test('the patch for kind is the one for kubeadm', () => {
  const { kubeadmConfigPatches } = load(block('kind')) as { kubeadmConfigPatches: [string] };
  expect(load(kubeadmConfigPatches[0])).toEqual(load(block('kubeadm')));
});

test('the value for k3s and RKE2 switches the three off and keeps the rest', () => {
  const { 'kube-controller-manager-arg': flags } = load(block('k3s and RKE2')) as Record<string, [string]>;
  expect(flags?.[0]).toMatch(/^controllers=\*,tokencleaner,-service,-route,-cloud-node-lifecycle,/);
  expect(enablesControllers([`--${flags?.[0]}`])).toBe(false);
});

test('what is appended on Talos switches the three off', () => {
  const { cluster } = JSON.parse(/'(\{.*\})'/.exec(section('Talos'))?.[1] ?? '{}');
  const value: string = cluster.controllerManager.extraArgs.controllers;
  expect(enablesControllers([`--controllers=*,tokencleaner,${value}`])).toBe(false);
});
