import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export type Role = 'worker' | 'watcher' | 'reconciler' | 'writer';

const fromSources = [
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('../../../services/sluice/src/main.ts', import.meta.url)),
];

/**
 * A command of Sluice as a child process, which is killed when this process exits. `program`: arguments of Node up to the
 * program; by default, those that run the sources.
 */
export class RoleProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves when the process has exited, with its signal or exit status, for example `exit status 1`. */
  readonly exited: Promise<string>;

  constructor(
    name: string,
    role: Role | 'console' | 'run',
    args: readonly string[],
    onLine: (name: string, line: string) => void,
    program: readonly string[] = fromSources,
  ) {
    this.name = name;
    // Its own process group: Ctrl-C in the terminal reaches only this process, which then stops the roles in order.
    const child = spawn(process.execPath, [...program, role, ...args], {
      detached: true,
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    this.child = child;
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(name, line);
    });
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => {
        process.off('exit', kill);
        resolve(signal === null ? `exit status ${code}` : signal);
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Sends SIGTERM and waits until the process has handed over and exited. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.exited;
  }
}
