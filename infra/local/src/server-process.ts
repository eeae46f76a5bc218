import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from './local-error.ts';

/** How a server is started. */
export interface ServerCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Standard output and error are appended to this file. */
  readonly log: string;
}

/**
 * One server program. It is killed when this process ends in any way, even by SIGKILL, unless it was released. It runs
 * in a process group of its own, so that Ctrl-C in the terminal does not take it away before its user has finished.
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

  /** The process id while it runs. */
  get pid(): number | undefined {
    return this.running ? this.#child?.pid : undefined;
  }

  /** Starts it, or starts it again after it ended; does nothing while it runs. */
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
   * Polls until `probe` says true.
   *
   * @throws LocalError `exited` when the program ended, `not-ready` after the timeout; both show the end of the log
   */
  async ready(probe: () => Promise<boolean>, timeoutMilliseconds: number): Promise<void> {
    const deadline = performance.now() + timeoutMilliseconds;
    while (!(await probe())) {
      if (!this.running) throw new LocalError('exited', `${this.name} ended at its start\n${this.#tail()}`);
      if (performance.now() > deadline) {
        const seconds = Math.round(timeoutMilliseconds / 1000);
        throw new LocalError('not-ready', `${this.name} was not ready within ${seconds} s\n${this.#tail()}`);
      }
      await sleep(50);
    }
  }

  /** Sends a signal (SIGSTOP and SIGCONT freeze and thaw it); false when it does not run. */
  signal(signal: NodeJS.Signals): boolean {
    return this.running && (this.#child?.kill(signal) ?? false);
  }

  /** Asks it to end and kills it when it has not within the grace period; returns when it is gone. */
  async stop(graceMilliseconds = 5000): Promise<void> {
    if (this.signal('SIGTERM')) {
      this.signal('SIGCONT');
      const late = new AbortController();
      const kill = sleep(graceMilliseconds, undefined, { signal: late.signal }).then(
        () => this.signal('SIGKILL'),
        () => false,
      );
      await this.#ended;
      late.abort();
      await kill;
    }
  }

  /** Ends it at once, as a crash would; returns when it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }

  /** Lets it outlive this process, and this process end without it. */
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
    return `  ${lines.join('\n  ')}\nwhole log: ${this.command.log}`;
  }
}

/**
 * A shell that waits for the end of its input, which comes when this process ends, however it ends, and then kills the
 * group. It needs nothing of the operating system beyond sh, and nothing of us once it runs.
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
