import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS, ROOT, run, say, systemEnvironment } from './root.mjs';

const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.sluice-setup');
/** The files on which the stamp depends, for `bin/sluice`, which looks at their times before it asks here. */
const MANIFESTS = join(MODULES, '.sluice-manifests');
const LOG = join(ROOT, '.cache', 'install.log');

/**
 * Installs the packages, unless the stamp says that exactly these were installed already. The stamp goes away before
 * an install and comes back after it, so that an interrupted one is done again at the next run.
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
  if (!(await nodeRuns())) {
    // pnpm takes a half-finished package for a finished one when it was killed at the wrong moment.
    say('the installed Node does not run; installing everything anew');
    for (const folder of ['.', ...packages]) {
      rmSync(join(ROOT, folder, 'node_modules'), { recursive: true, force: true });
    }
    await install();
    if (!(await nodeRuns())) throw new Error(`${join(COMMANDS, 'node')} does not run on this machine.\n${advice('')}`);
  }
  writeStamp(wanted, packages);
  say(`set-up done in ${seconds(started)}`);
}

/** Anew even if it says the same: it is to be newer than what it depends on. */
function writeStamp(wanted, packages) {
  writeFileSync(MANIFESTS, `${manifestsOf(packages).join('\n')}\n`);
  writeFileSync(STAMP, wanted);
}

async function install() {
  const manager = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).packageManager;
  say(`installing packages with ${manager.split('+')[0]} (only now and when they change)`);
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const log = openSync(LOG, 'w');
  const stopTicking = tick();
  let status;
  try {
    // pm-on-fail: the version is right already, pnpm need not look itself up. confirm: nobody is there to answer.
    const settings = ['--config.pm-on-fail=ignore', '--config.confirm-modules-purge=false'];
    status = await run('npx', ['--yes', manager, 'install', '--frozen-lockfile', ...settings], {
      stdio: ['ignore', log, log],
      env: systemEnvironment(),
      shell: process.platform === 'win32',
    });
  } finally {
    stopTicking();
    closeSync(log);
  }
  if (status === 0) return;
  if (status > 128) throw new Error('sluice: the installation was interrupted; the next run finishes it');
  const text = readFileSync(LOG, 'utf8');
  const tail = text.trimEnd().split('\n').slice(-20).join('\n  ');
  throw new Error(
    `sluice: the packages could not be installed (exit status ${status}):\n\n  ${tail}\n\n${advice(text)}`,
  );
}

function advice(log) {
  const hint =
    HINTS.find(([pattern]) => pattern.test(log))?.[1] ?? 'Try again; if it stays, remove node_modules first.';
  return `${hint}\nThe whole log is in ${LOG}.`;
}

const HINTS = [
  [
    /OUTDATED_LOCKFILE/,
    'A package.json changed without its lock file: run "npx pnpm install" and commit pnpm-lock.yaml.',
  ],
  [/ENOSPC/, 'The disk is full: make room (about 1 GB) and try again.'],
  [/EACCES|EPERM/, 'A file may not be written: check who owns this folder and the caches of npm and pnpm.'],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|META_FETCH_FAIL|ERR_SOCKET|network/i,
    'The package registry could not be reached: check the network, a proxy (HTTPS_PROXY) and "npm config get registry".',
  ],
];

/** Changes whenever another install is due: the lock file, the workspace, any package.json, the machine's kind. */
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

/** The folders named by pnpm-workspace.yaml: plain ones and `folder/*`. */
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

async function nodeRuns() {
  const node = join(COMMANDS, 'node');
  return existsSync(node) && (await run(node, ['--version'], { stdio: 'ignore' })) === 0;
}

/** Shows that something goes on: a running clock on a terminal, a line every 15 s elsewhere. */
function tick() {
  const started = Date.now();
  const terminal = process.stderr.isTTY;
  const timer = setInterval(
    () => {
      if (terminal) process.stderr.write(`\rsluice: installing … ${seconds(started)} `);
      else say(`still installing, ${seconds(started)}`);
    },
    terminal ? 1000 : 15_000,
  );
  return () => {
    clearInterval(timer);
    if (terminal) process.stderr.write('\r\x1b[K');
  };
}

function seconds(since) {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}
