import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root folder of the checkout. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Folder with the commands of the installed packages, including the pinned Node. */
export const COMMANDS = join(ROOT, 'node_modules', '.bin');

/** Prints progress to stderr, because stdout belongs to the command that follows. */
export function say(line) {
  process.stderr.write(`sluice: ${line}\n`);
}

/** The environment with the workspace's commands first in PATH, so that `node` is the pinned one. */
export function workspaceEnvironment() {
  return { ...process.env, PATH: [COMMANDS, withoutWorkspace(process.env.PATH)].join(delimiter) };
}

/**
 * The environment without the workspace's commands. npm puts them first; an installer must not run on a Node that it
 * is about to replace.
 */
export function systemEnvironment() {
  return { ...process.env, PATH: withoutWorkspace(process.env.PATH) };
}

function withoutWorkspace(path = '') {
  return path
    .split(delimiter)
    .filter((entry) => !entry.startsWith(ROOT) || !entry.endsWith(join('node_modules', '.bin')))
    .join(delimiter);
}

/**
 * Runs a command and returns its exit status; as in shells, 128 + number if a signal killed it. `started` receives the
 * process.
 */
export function run(file, args, options = {}, started = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: ROOT, stdio: 'inherit', ...options });
    started(child);
    const pass = (signal) => child.kill(signal);
    process.on('SIGTERM', pass);
    // The terminal sends SIGINT to the child as well. This process only waits until the child has exited.
    process.on('SIGINT', ignore);
    const done = () => {
      process.off('SIGTERM', pass);
      process.off('SIGINT', ignore);
    };
    child.on('error', (error) => {
      done();
      reject(new Error(`cannot run ${file}: ${error.message}`));
    });
    child.on('close', (status, signal) => {
      done();
      resolve(status ?? 128 + (SIGNALS[signal] ?? 0));
    });
  });
}

/** Like `run`, but returns what the command prints to stdout and stderr. */
export async function runQuietly(file, args, options = {}) {
  const chunks = [];
  const collect = (child) => {
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  };
  const status = await run(file, args, { ...options, stdio: ['inherit', 'pipe', 'pipe'] }, collect);
  return { status, output: Buffer.concat(chunks) };
}

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };
const ignore = () => {};
