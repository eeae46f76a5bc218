import { parseServiceKey } from '@sluice/messages';
import type { Cancel, Clock, Logger } from '@sluice/platform';
import { errorMessage } from '@sluice/platform';
import { type FoundProblem, findProblems, type ProblemSource } from '@sluice/recording/problems';
import type { Metrics } from '@sluice/telemetry';

interface ReporterOptions {
  readonly recording: ProblemSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
}

const intervalMs = 10_000;

/** Reports what is wrong with Services, as the recording shows it: as metrics, and in the log when it begins and ends. */
export class ProblemReporter {
  readonly #options: ReporterOptions;
  #problems: ReadonlyMap<string, FoundProblem> = new Map();
  #cancel: Cancel | undefined;
  #isClosed = false;
  #isFailing = false;
  readonly #hide: (() => void) | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#hide = options.metrics?.report('sluice_service_problems', (report) => this.#report(report));
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#hide?.();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.clock.schedule(intervalMs, () => {
      void this.#check().finally(() => this.#schedule());
    });
  }

  async #check(): Promise<void> {
    const { recording, clock, logger } = this.#options;
    try {
      const found = await findProblems(recording, {
        from: 0,
        to: clock.now(),
        keys: '%/%/%',
        isOpen: true,
        all: false,
      });
      if (this.#isClosed) return;
      this.#update(new Map(found.map((one) => [`${one.key} ${one.reason}`, one])));
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isClosed) {
        logger.warn('problems not checked; the recording does not answer', { reason: errorMessage(error) });
      }
      this.#isFailing = true;
    }
  }

  #update(problems: ReadonlyMap<string, FoundProblem>): void {
    const { logger } = this.#options;
    const before = this.#problems;
    this.#problems = problems;
    for (const [name, problem] of problems) {
      if (before.has(name)) continue;
      const { message, from, severity } = problem;
      const fields = { ...subjectOf(problem), message, since: new Date(from).toISOString() };
      if (severity === 'info') logger.info('problem began', fields);
      else logger.warn('problem began', fields);
    }
    for (const [name, problem] of before) if (!problems.has(name)) logger.info('problem ended', subjectOf(problem));
  }

  #report(report: (labels: { identity: string; reason: string; severity: string }, value: number) => void): void {
    const groups = Map.groupBy(
      this.#problems.values(),
      ({ key, reason }) => `${parseServiceKey(key).cluster} ${reason}`,
    );
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const { key, reason, severity } = first;
      report({ identity: parseServiceKey(key).cluster, reason, severity }, others.length + 1);
    }
  }
}

function subjectOf({ key, reason }: FoundProblem) {
  const { cluster, namespace, service } = parseServiceKey(key);
  return { cluster, service: `${namespace}/${service}`, reason };
}
