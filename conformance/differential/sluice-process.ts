import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { isObject, type JsonObject, textAt } from '@sluice/shadow';

const program = join(import.meta.dirname, '..', '..', 'bin', 'sluice');

/** For what hangs; a busy machine does not reach it. */
const limitMs = 180_000;
/** Limits the life of a process whose test was killed. */
const lifetime = '45m';

/** `bin/sluice run --output json` as a process. */
export class SluiceProcess {
  readonly lines: JsonObject[] = [];
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;
  #waiting: (() => void)[] = [];

  constructor(args: readonly string[]) {
    const child = spawn(program, ['run', '--output', 'json', '--for', lifetime, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const texts = (rest + chunk).split('\n');
      rest = texts.pop() ?? '';
      for (const text of texts) this.#read(text);
      this.#wake();
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
      this.#wake();
    });
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        process.off('exit', kill);
        resolve(code ?? (signal === 'SIGKILL' ? 137 : 143));
        this.#wake();
      });
    });
    // Avoids an unhandled rejection if nobody awaits it.
    this.#ended.catch(() => {});
  }

  /**
   * Starts Sluice on a cluster and waits for `event`: `synced` once its caches are synced, or `started` in shadow mode.
   * Later objects do not count as present at startup (D4).
   */
  static async start(
    kubeconfig: string,
    args: readonly string[] = [],
    known: 'synced' | 'started' = 'synced',
  ): Promise<SluiceProcess> {
    const sluice = new SluiceProcess(['--take-over', '--kubeconfig', kubeconfig, ...args]);
    await sluice.until(() => sluice.events(known).length > 0, 'its caches are synced');
    return sluice;
  }

  /** The events of one kind on standard output. */
  events(kind: string): JsonObject[] {
    return this.lines.filter((line) => textAt(line, 'event') === kind);
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Waits until `condition` is true.
   *
   * @throws Error if the process exits first, or after three minutes
   */
  async until(condition: () => boolean, what: string): Promise<void> {
    const late = AbortSignal.timeout(limitMs);
    while (!condition()) {
      if (!this.running)
        throw new Error(`sluice exited with status ${await this.#ended} before ${what}\n${this.stderr}`);
      if (late.aborted) throw new Error(`timed out after ${limitMs} ms: ${what}\n${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        late.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  /** Resolves with the exit status when the process exits. */
  ended(): Promise<number> {
    return this.#ended;
  }

  /** Sends SIGTERM and returns the exit status; kills the process (137) after three minutes. */
  async stop(): Promise<number> {
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), limitMs);
    const status = await this.#ended;
    clearTimeout(kill);
    return status;
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #read(text: string): void {
    if (text === '') return;
    const line: unknown = JSON.parse(text);
    if (isObject(line)) this.lines.push(line);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
