import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { appendFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { version } from '@sluice/platform/process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBinaries, ensureHelm, ensureKrew } from '../local/src/index.ts';
import { user } from './base-files.ts';
import { buildRelease } from './build.ts';
import { newSigningKey, sha256 } from './checksums.ts';
import { consoleOf, type Installed, ObservedCluster } from './testing/observed-cluster.ts';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'sluice-release-'));
const release = join(directory, 'release');
/** Commands of the system only, without the Node of the checkout. */
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin';
const archive = `sluice-${version}-linux-amd64`;
const options = {
  ...{ root, version, createdAt: 1_700_000_000, architectures: ['amd64'] as const, report: () => {} },
  cache: join(root, '.cache/release'),
  baseUrl: 'https://example.com/releases',
  key: createPrivateKey(newSigningKey().privateKey),
};
let files: ReadonlyMap<string, Uint8Array>;

beforeAll(async () => {
  files = await buildRelease(options);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(release, path)), { recursive: true });
    writeFileSync(join(release, path), content);
  }
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (file: string, args: readonly string[], path = systemPath) =>
  execFileSync(file, args, { encoding: 'utf8', env: { PATH: path, HOME: directory } });

test('two builds are bit-identical', async () => {
  const sums = (built: ReadonlyMap<string, Uint8Array>) => [...built].map(([path, content]) => [path, sha256(content)]);
  expect(sums(await buildRelease(options))).toEqual(sums(files));
});

test('the archive runs without an installed Node', () => {
  run('tar', ['-xzf', join(release, `${archive}.tar.gz`), '-C', directory]);
  const command = (name: string) => join(directory, archive, 'bin', name);
  expect(run(command('sluice'), ['--version'])).toBe(`${version}\n`);
  expect(run(command('kubectl-sluice'), ['run', '--help'])).toContain('--kubeconfig');
  const shared = globSync('share/**/*sluice*', { cwd: join(directory, archive) });
  expect(shared).toEqual(expect.arrayContaining(['share/zsh/site-functions/_sluice']));
});

describe('the npm package', () => {
  const prefix = join(directory, 'npm');
  const withNode = `${dirname(process.execPath)}:${systemPath}`;

  beforeAll(() => {
    const install = ['install', '--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund'];
    execFileSync('npm', [...install, join(release, `sluice-${version}.tgz`)], { stdio: 'pipe' });
  });

  test('installs sluice and the plugin of kubectl', () => {
    expect(run(join(prefix, 'bin/sluice'), ['--version'], withNode)).toBe(`${version}\n`);
    expect(run(join(prefix, 'bin/kubectl-sluice'), ['--version'], withNode)).toBe(`${version}\n`);
    expect(run(join(prefix, 'bin/kubectl_complete-sluice'), ['expl'], withNode)).toBe('explain\n:4\n');
  });

  test('serves the console with its scripts', async () => {
    const args = ['run', '--metrics-bind-address', '127.0.0.1:0', '--output', 'json'];
    const env = { PATH: withNode, HOME: directory };
    const child = spawn(join(prefix, 'bin/sluice'), args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const address = await consoleOf(child);
      const page = await (await fetch(address)).text();
      const [script = 'none'] = /(?<=src=")[^"]+/.exec(page) ?? [];
      for (const path of [script, '/packages/preact.js', '/packages/htm.js'])
        expect((await fetch(new URL(path, address))).status, path).toBe(200);
    } finally {
      child.kill();
    }
  });

  test('names the version of Node that it needs', () => {
    const old = join(directory, 'old');
    mkdirSync(old);
    writeFileSync(join(old, 'node'), '#!/bin/sh\necho v22.11.0\n', { mode: 0o755 });
    const { status, stderr } = spawnSync(join(prefix, 'bin/sluice'), ['--version'], {
      env: { PATH: `${old}:${systemPath}` },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, `sluice: needs Node 24 or newer; ${old}/node is v22.11.0\n`]);
  });
});

describe('the image', () => {
  const rootfs = join(directory, 'rootfs');
  const layout = `sluice-${version}-oci`;
  const blob = (digest: string): Buffer => Buffer.from(files.get(`${layout}/blobs/${digest.replace(':', '/')}`) ?? '');
  let config: { readonly User: string; readonly Entrypoint: readonly string[] };

  beforeAll(() => {
    const read = <T>(content: Uint8Array) => JSON.parse(Buffer.from(content).toString()) as T;
    const first = ({ manifests: [one] }: { readonly manifests: readonly { readonly digest: string }[] }) =>
      one?.digest ?? '';
    const index = read<Parameters<typeof first>[0]>(
      blob(first(read(files.get(`${layout}/index.json`) ?? Buffer.of()))),
    );
    const manifest = read<{
      readonly config: { readonly digest: string };
      readonly layers: readonly { readonly digest: string }[];
    }>(blob(first(index)));
    config = read<{ readonly config: typeof config }>(blob(manifest.config.digest)).config;
    mkdirSync(rootfs);
    for (const { digest } of manifest.layers) execFileSync('tar', ['-xzf', '-', '-C', rootfs], { input: blob(digest) });
  });

  test('has a user without privileges, no shell and no package manager', () => {
    expect(config.User).toBe(`${user.id}:${user.id}`);
    const programs = globSync('**/{bin,sbin}/*', { cwd: rootfs });
    expect(programs).toEqual(['usr/bin/node']);
  });

  test.runIf(process.getuid?.() === 0)('runs Sluice as that user', () => {
    const [file = '', ...flags] = config.Entrypoint;
    const inside = (...args: string[]) =>
      run('chroot', [`--userspec=${config.User}`, '--groups=', rootfs, file, ...flags, ...args]);
    expect(inside('--version')).toBe(`${version}\n`);
    expect(inside('run', '--help')).toContain('--kubeconfig');
    const json = inside('run', '--for', '1s', '--output', 'json', '--metrics-bind-address', '0');
    expect(json).toContain('{');
  });
});

describe('observe explains endpoints, from an empty directory and without a checkout, started by', () => {
  const cluster = new ObservedCluster(join(directory, 'cluster'));
  const withNode = `${dirname(process.execPath)}:${systemPath}`;

  beforeAll(() => cluster.listen());

  afterAll(() => cluster.close());

  const expectExplanation = (installed: Installed) =>
    cluster.whileObserving(installed, async (explain) => {
      await expect.poll(explain).toMatch(/svc-00000-1: pending .*\n {2}no controller has written it yet/);
    });

  test('the archive', () => expectExplanation({ file: join(directory, archive, 'bin/sluice'), path: systemPath }));

  test('npx, without a registry', () => {
    const file = `sluice-${version}.tgz`;
    const installed = { file: 'npx', args: ['--yes', `./${file}`], path: withNode, download: join(release, file) };
    return expectExplanation(installed);
  });

  test('kubectl, with the plugin that Krew installs from the manifest', async () => {
    const root = join(directory, 'krew');
    const install = ['install', `--manifest=${join(release, 'krew/sluice.yaml')}`];
    execFileSync(await ensureKrew(), [...install, `--archive=${join(release, `${archive}.tar.gz`)}`], {
      ...{ env: { PATH: systemPath, HOME: directory, KREW_ROOT: root }, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    const { kubectl } = await ensureBinaries();
    await expectExplanation({ file: kubectl, args: ['sluice'], path: `${join(root, 'bin')}:${systemPath}` });
  });
});

describe('the chart', () => {
  test('installs without a checkout what the checkout does, with the image of the release', async () => {
    const helm = await ensureHelm();
    const cwd = mkdtempSync(join(directory, 'chart-'));
    const render = (chart: string, mode: string) =>
      execFileSync(helm, ['template', 'sluice', chart, '--namespace', 'sluice', '--set', `mode=${mode}`], {
        ...{ cwd, encoding: 'utf8', env: { PATH: systemPath, HOME: cwd }, stdio: ['ignore', 'pipe', 'ignore'] },
      });
    for (const mode of ['allInOne', 'observe', 'shadow']) {
      const rendered = render(join(release, `chart/sluice-${version}.tgz`), mode);
      expect(rendered).toBe(render(join(root, 'infra/helm'), mode));
      expect(rendered).toContain(`image: "sluice:${version}"`);
    }
    const index = Buffer.from(files.get(`sluice-${version}-oci/index.json`) ?? '').toString();
    expect(index).toContain(`"sluice:${version}"`);
  });
});

describe('verifying', () => {
  const verify = (key: string) =>
    spawnSync(process.execPath, [join(root, 'infra/release/main.ts'), '--verify', release, '--public-key', key], {
      encoding: 'utf8',
    });

  test('succeeds until a file changes', () => {
    const key = join(release, 'sluice.pub');
    expect(verify(key)).toMatchObject({ status: 0, stdout: `${files.size - 3} files verified\n` });
    const other = join(directory, 'other.pub');
    writeFileSync(other, newSigningKey().publicKey);
    expect(verify(other).status).toBe(1);
    appendFileSync(join(release, `sluice-${version}.tgz`), 'x');
    const { status, stderr } = verify(key);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`sluice-${version}.tgz differs from its checksum\n`)]);
  });
});
