import type { ServerProcess } from '@sluice/local';

/** A process that things are done to, one after the other. It may be held by several at once, and goes on with the last. */
export class Target {
  readonly name: string;
  readonly process: ServerProcess;
  /** Something is being done to it; that it does not run is nothing to wonder about. */
  busy = false;
  readonly #start: () => Promise<void>;
  #holds = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(name: string, process: ServerProcess, start: () => Promise<void>) {
    this.name = name;
    this.process = process;
    this.#start = start;
  }

  /** Does this once everything before is done. */
  enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(async () => {
      this.busy = true;
      try {
        await task();
      } finally {
        this.busy = false;
      }
    });
    this.#queue = done.catch(() => {});
    return done;
  }

  async start(): Promise<void> {
    await this.#start();
    if (this.#holds > 0) this.process.signal('SIGSTOP');
  }

  hold(): void {
    this.#holds++;
    this.process.signal('SIGSTOP');
  }

  release(): void {
    this.#holds--;
    if (this.#holds === 0) this.process.signal('SIGCONT');
  }

  /** Asks it to end. False if it had to be killed. */
  async stop(graceMs: number): Promise<boolean> {
    const before = performance.now();
    await this.process.stop(graceMs);
    return performance.now() - before < graceMs;
  }
}
