import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from './local-error.ts';

export interface ServerCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Standard output and error are appended to this file. */
  readonly log: string;
}

/** For what hangs; a busy machine does not reach it. */
export const READY_TIMEOUT_MILLISECONDS = 180_000;

/**
 * A server program. It is killed when this process exits for any reason, including SIGKILL, unless it is released. It runs
 * in its own process group, so Ctrl-C in the terminal does not stop it before its clients have finished.
 */
export class ServerProcess {
  readonly command: ServerCommand;
  #child: ChildProcess | undefined;
  #guard: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(command: ServerCommand) {
    this.command = command;
  }

  get name(): string {
    return this.command.name;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.running ? this.#child?.pid : undefined;
  }

  /** Resolves when the program that runs now has exited. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Starts the program, also after it exited. Does nothing while it runs. */
  async start(): Promise<void> {
    if (this.running) return;
    const log = openSync(this.command.log, 'a');
    const child = spawn(this.command.program, [...this.command.args], { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) =>
        reject(new LocalError('exited', `cannot run ${this.command.program}: ${error.message}`)),
      );
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        if (this.#child === child) this.#dismissGuard();
        resolve();
      });
    });
    this.#guard = guard(child.pid ?? 0);
  }

  /**
   * Polls until `probe` returns true.
   *
   * @throws LocalError `exited` if the program exits, `not-ready` after the timeout; both with the end of the log
   */
  async ready(probe: () => Promise<boolean>, timeoutMilliseconds = READY_TIMEOUT_MILLISECONDS): Promise<void> {
    const deadline = performance.now() + timeoutMilliseconds;
    while (!(await probe())) {
      if (!this.running) throw new LocalError('exited', `${this.name} exited during startup\n${this.#tail()}`);
      if (performance.now() > deadline) {
        const seconds = Math.round(timeoutMilliseconds / 1000);
        throw new LocalError('not-ready', `${this.name} not ready after ${seconds} s\n${this.#tail()}`);
      }
      await sleep(50);
    }
  }

  /** Sends a signal. False if the program is not running. */
  signal(signal: NodeJS.Signals): boolean {
    return this.running && (this.#child?.kill(signal) ?? false);
  }

  /** Sends SIGSTOP and waits until no thread of the program runs, which takes a while on busy CPUs. */
  async freeze(): Promise<void> {
    const { pid } = this;
    if (pid === undefined || !this.signal('SIGSTOP')) return;
    while (this.running && runsThreads(pid)) await sleep(1);
  }

  /** Sends SIGTERM, then SIGKILL after the grace period, and waits until the program has exited. */
  async stop(graceMilliseconds = 5000): Promise<void> {
    if (this.signal('SIGTERM')) {
      this.signal('SIGCONT');
      const exited = new AbortController();
      const kill = sleep(graceMilliseconds, undefined, { signal: exited.signal }).then(
        () => this.signal('SIGKILL'),
        () => false,
      );
      await this.#ended;
      exited.abort();
      await kill;
    }
  }

  /** Sends SIGKILL and waits until the program has exited. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }

  /** Lets the program outlive this process. */
  release(): void {
    this.#dismissGuard();
    this.#child?.unref();
  }

  #dismissGuard(): void {
    this.#guard?.kill('SIGKILL');
    this.#guard = undefined;
  }

  #tail(): string {
    const lines = readFileSync(this.command.log, 'utf8').trimEnd().split('\n').slice(-15);
    return `  ${lines.join('\n  ')}\nfull log: ${this.command.log}`;
  }
}

/** Whether Linux lists a thread that is not stopped. False where there is no /proc. */
function runsThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      // The state follows the name in parentheses, which may contain any character.
      return status.charAt(status.lastIndexOf(')') + 2) !== 'T';
    });
  } catch {
    return false;
  }
}

/**
 * A shell that kills the process group when its standard input is closed, which happens when this process exits for any
 * reason, including SIGKILL.
 */
function guard(pid: number): ChildProcess {
  const child = spawn('/bin/sh', ['-c', 'read -r _; kill -s KILL -- "-$1"', 'guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.unref();
  if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}
