import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeProblem } from './node-sums.mjs';
import { showProgress } from './progress.mjs';
import { COMMANDS, ROOT, run, say, systemEnvironment } from './root.mjs';

const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.sluice-setup');
/** Lists the files that the stamp covers. `bin/sluice` compares their times before it runs this script. */
const MANIFESTS = join(MODULES, '.sluice-manifests');
const LOG = join(ROOT, '.cache', 'install.log');

/**
 * Installs the packages unless the stamp shows that exactly these are installed. The stamp is removed before an install and
 * written after it, so that the next run repeats an interrupted one.
 */
export async function setUp() {
  const packages = packageFolders();
  const wanted = fingerprint(packages);
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted && existsSync(join(COMMANDS, 'node'))) {
    writeStamp(wanted, packages);
    return;
  }
  rmSync(STAMP, { force: true });
  const started = Date.now();
  await install();
  checkNode();
  if (!(await nodeRuns())) {
    // pnpm accepts a partly written package as complete if it was killed while writing it.
    say('the installed Node does not run; reinstalling all packages');
    for (const folder of ['.', ...packages]) {
      rmSync(join(ROOT, folder, 'node_modules'), { recursive: true, force: true });
    }
    await install();
    checkNode();
    if (!(await nodeRuns())) throw new Error(`${join(COMMANDS, 'node')} does not run on this machine.\n${advice('')}`);
  }
  writeStamp(wanted, packages);
  say(`packages installed in ${seconds(started)}`);
}

/** Written even if unchanged, so that the stamp is newer than the files it covers. */
function writeStamp(wanted, packages) {
  writeFileSync(MANIFESTS, `${manifestsOf(packages).join('\n')}\n`);
  writeFileSync(STAMP, wanted);
}

async function install() {
  const manager = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).packageManager;
  say(`installing packages with ${manager.split('+')[0]} (once, and after changes)`);
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const log = openSync(LOG, 'w');
  const stopProgress = showProgress(process.stderr, 'sluice: installing');
  let status;
  try {
    // pm-on-fail: the version is already correct, so pnpm skips its own lookup. confirm: nobody can answer a prompt.
    const settings = ['--config.pm-on-fail=ignore', '--config.confirm-modules-purge=false'];
    status = await run('npx', ['--yes', manager, 'install', '--frozen-lockfile', ...settings], {
      stdio: ['ignore', log, log],
      env: systemEnvironment(),
      shell: process.platform === 'win32',
    });
  } finally {
    stopProgress();
    closeSync(log);
  }
  if (status === 0) return;
  if (status > 128) throw new Error('sluice: installation interrupted; the next run completes it');
  const text = readFileSync(LOG, 'utf8');
  const tail = text.trimEnd().split('\n').slice(-20).join('\n  ');
  throw new Error(`sluice: cannot install the packages (exit status ${status}):\n\n  ${tail}\n\n${advice(text)}`);
}

function advice(log) {
  const hint =
    HINTS.find(([pattern]) => pattern.test(log))?.[1] ?? 'Try again. If it fails again, remove node_modules and retry.';
  return `${hint}\nFull log: ${LOG}`;
}

const HINTS = [
  [/OUTDATED_LOCKFILE/, 'pnpm-lock.yaml is outdated: run "npx pnpm install" and commit it.'],
  [/ENOSPC/, 'The disk is full: free about 1 GB and try again.'],
  [/EACCES|EPERM/, 'Permission denied: check the owner of this folder and of the caches of npm and pnpm.'],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|META_FETCH_FAIL|ERR_SOCKET|network/i,
    'Cannot reach the package registry: check the network, the proxy (HTTPS_PROXY) and "npm config get registry".',
  ],
];

/** Hash of the platform, lock file, workspace file and every package.json. A new value requires an install. */
function fingerprint(packages) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const file of manifestsOf(packages)) {
    hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

function manifestsOf(packages) {
  const manifests = ['.', ...packages].map((folder) => join(folder, 'package.json'));
  return ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests];
}

/** The package folders in pnpm-workspace.yaml, where `folder/*` is expanded. */
function packageFolders() {
  const list = /^packages:\n((?: +- .*\n)+)/m.exec(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'))?.[1] ?? '';
  return [...list.matchAll(/- ['"]?([^\s'"]+)/g)]
    .flatMap(([, entry]) => {
      if (!entry.endsWith('/*')) return [entry];
      const parent = entry.slice(0, -2);
      return existsSync(join(ROOT, parent)) ? readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`) : [];
    })
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
    .sort();
}

/** Before it runs for the first time: a package's script downloads it, so the lock file says nothing about its content. */
function checkNode() {
  const folder = join(MODULES, 'node');
  const file = join(folder, 'bin', 'node');
  // An incomplete installation is repeated.
  if (!existsSync(file)) return;
  // Only Linux is supported in production; on others, Node is as trustworthy as the registry.
  if (process.platform !== 'linux') return say(`the SHA-256 of Node for ${process.platform} is not pinned`);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const problem = nodeProblem(`${process.platform}-${process.arch}`, version, file);
  if (problem !== undefined) throw new Error(`sluice: ${problem}`);
}

async function nodeRuns() {
  const node = join(COMMANDS, 'node');
  return existsSync(node) && (await run(node, ['--version'], { stdio: 'ignore' })) === 0;
}

function seconds(since) {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}
