import type { ServerProcess } from '@sluice/local';

/**
 * A process to inject faults into, one at a time. It can be paused several times and resumes with the last `resume`.
 */
export class Target {
  readonly name: string;
  readonly process: ServerProcess;
  /** Whether a fault is in progress, so that the process may not be running. */
  busy = false;
  readonly #start: () => Promise<void>;
  #holds = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor(name: string, process: ServerProcess, start: () => Promise<void>) {
    this.name = name;
    this.process = process;
    this.#start = start;
  }

  /** Runs the task after all earlier ones. */
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

  pause(): void {
    this.#holds++;
    this.process.signal('SIGSTOP');
  }

  resume(): void {
    this.#holds--;
    if (this.#holds === 0) this.process.signal('SIGCONT');
  }

  /** Sends SIGTERM. Returns false if the process had to be killed. */
  async stop(graceMs: number): Promise<boolean> {
    const before = performance.now();
    await this.process.stop(graceMs);
    return performance.now() - before < graceMs;
  }
}

/** Runs the task while no other fault affects any of these processes. */
export async function exclusively<T>(targets: readonly Target[], task: () => Promise<T>): Promise<T> {
  const over = Promise.withResolvers<void>();
  // All queues are entered at once, so that two such tasks cannot wait for each other.
  const entered = targets.map((target) => {
    const entry = Promise.withResolvers<void>();
    void target.enqueue(() => {
      entry.resolve();
      return over.promise;
    });
    return entry.promise;
  });
  await Promise.all(entered);
  try {
    return await task();
  } finally {
    over.resolve();
  }
}
