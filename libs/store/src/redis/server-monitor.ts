import { type Cancel, type Clock, errorMessage, type Logger } from '@sluice/platform';
import type { StoreProblem } from '../index.ts';
import type { ServerReport } from './check-server.ts';

const periodMs = 60_000;

interface ServerMonitorOptions {
  /** Reads and checks the settings of all masters. */
  readonly check: () => Promise<readonly ServerReport[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Checks each minute whether the servers' settings still suit, since an operator or a failover can change them. Logs each
 * problem once when it appears and once when it is resolved.
 */
export class ServerMonitor {
  readonly #options: ServerMonitorOptions;
  #problems: readonly StoreProblem[];
  #cancel: Cancel = () => {};
  #closed = false;

  /** `known`: problems that have been reported already. */
  constructor(options: ServerMonitorOptions, known: readonly StoreProblem[]) {
    this.#options = options;
    this.#problems = known;
    this.#schedule();
  }

  /** As of the last check. */
  get problems(): readonly StoreProblem[] {
    return this.#problems;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#cancel = this.#options.clock.schedule(periodMs, () => {
      void this.#check().finally(() => this.#schedule());
    });
  }

  async #check(): Promise<void> {
    const { check, logger } = this.#options;
    try {
      const reports = await check();
      if (this.#closed) return;
      const errors = new Set(reports.flatMap(({ error }) => error?.message ?? []));
      const problems = reports.flatMap((report) => report.problems);
      for (const { message: problem } of problems) {
        if (has(this.#problems, problem)) continue;
        logger[errors.has(problem) ? 'error' : 'warn']('Redis settings have become unsafe', { problem });
      }
      for (const { message: problem } of this.#problems) {
        if (!has(problems, problem)) logger.info('Redis settings are safe again', { problem });
      }
      this.#problems = problems;
    } catch (error) {
      // Redis does not answer, which the connections report.
      logger.debug('cannot check Redis settings', { reason: errorMessage(error) });
    }
  }
}

const has = (problems: readonly StoreProblem[], message: string): boolean =>
  problems.some((problem) => problem.message === message);
