import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { isObject, type JsonObject, textAt } from '@sluice/shadow';

const program = join(import.meta.dirname, '..', '..', 'bin', 'sluice');

/** Longest life of a process that nobody ended, say because its test was killed. */
const lifetime = '45m';

/** A run of `bin/sluice run --output json` in a process of its own. */
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
    // Who waits for the end hears of it; nobody has to wait.
    this.#ended.catch(() => {});
  }

  /**
   * Starts on a cluster and returns when it knows it: what is made from then on is no leftover (D4). `known` is the event
   * that tells so; in shadow mode it is `started`.
   */
  static async start(
    kubeconfig: string,
    args: readonly string[] = [],
    known: 'synced' | 'started' = 'synced',
  ): Promise<SluiceProcess> {
    const sluice = new SluiceProcess(['--take-over', '--kubeconfig', kubeconfig, ...args]);
    await sluice.until(() => sluice.events(known).length > 0, 60_000, 'its lists are in');
    return sluice;
  }

  /** The lines of one kind that standard output has shown. */
  events(kind: string): JsonObject[] {
    return this.lines.filter((line) => textAt(line, 'event') === kind);
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until what the process has said makes `condition` true. Throws if it ends or the time is over before. */
  async until(condition: () => boolean, limitMs: number, what: string): Promise<void> {
    const late = AbortSignal.timeout(limitMs);
    while (!condition()) {
      if (!this.running) throw new Error(`sluice ended (${await this.#ended}) before ${what}\n${this.stderr}`);
      if (late.aborted) throw new Error(`not within ${limitMs} ms: ${what}\n${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        late.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  /** The exit status, when the process has ended by itself. */
  ended(): Promise<number> {
    return this.#ended;
  }

  /** Ends it with SIGTERM, as a cluster would; the exit status. One that does not end is killed (137). */
  async stop(limitMs = 20_000): Promise<number> {
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), limitMs);
    const status = await this.#ended;
    clearTimeout(kill);
    return status;
  }

  /** Ends it at once, as a crash would. */
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
