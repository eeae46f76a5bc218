import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import type { RoleProcess } from './role-process.ts';

export interface SupervisedProcessOptions {
  readonly name: string;
  readonly start: () => Pick<RoleProcess, 'pid' | 'exited' | 'stop'>;
  /** Called when the process exits unexpectedly, before its replacement starts. */
  readonly onExit: (pid: number) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A process that exits sooner than this is replaced with exponential backoff, others at once. */
const stableRunMs = 10_000;

/** Exit status for wrong usage or configuration, which a replacement would share. */
const usageErrorStatus = 'exit status 2';

/** Keeps one process running: starts a replacement each time it exits, until stopped. */
export class SupervisedProcess {
  readonly name: string;
  /** Resolves with the reason if replacing the process is of no use. */
  readonly failed: Promise<string>;
  readonly #options: SupervisedProcessOptions;
  readonly #stopping = new AbortController();
  #process: ReturnType<SupervisedProcessOptions['start']>;

  constructor(options: SupervisedProcessOptions) {
    this.#options = options;
    this.name = options.name;
    this.#process = options.start();
    this.failed = new Promise((resolve) => void this.#supervise(resolve));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#process.stop();
  }

  async #supervise(fail: (reason: string) => void): Promise<void> {
    const { name, start, onExit, clock, random, logger } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; ; ) {
      const startedAt = clock.monotonic();
      const { pid } = this.#process;
      const reason = await this.#process.exited;
      if (signal.aborted) return;
      if (pid === undefined || reason === usageErrorStatus) return fail(`${name} exited: ${reason}`);
      failures = clock.monotonic() - startedAt >= stableRunMs ? 0 : failures + 1;
      const delayMs = failures === 0 ? 0 : Math.round(backoffMs({ baseMs: 250, maxMs: 30_000 }, failures - 1, random));
      logger.warn('process exited; starting a replacement', { process: name, pid, reason, delayMs });
      onExit(pid);
      await sleep(clock, delayMs, signal);
      if (signal.aborted) return;
      this.#process = start();
      logger.info('replacement started', { process: name, pid: this.#process.pid });
    }
  }
}
