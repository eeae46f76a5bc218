import { type ObservedServices, problemsOverClusters } from '@sluice/console';
import { parseServiceKey } from '@sluice/messages';
import type { Cancel, Clock, Logger } from '@sluice/platform';
import { errorMessage } from '@sluice/platform';
import {
  allOf,
  type FoundProblem,
  findProblems,
  type ProblemRule,
  type ProblemSource,
  type ServiceProblem,
} from '@sluice/recording/problems';
import type { Metrics } from '@sluice/telemetry';
import type { Notify } from './problem-webhook.ts';

interface ReporterOptions {
  readonly recording: ProblemSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** How problems count. Default: by their reasons. */
  readonly rules?: readonly ProblemRule[];
  /** Services over all clusters. Default: only single clusters are checked. */
  readonly observed?: ObservedServices | undefined;
  /** Called with what has changed since the last call that succeeded. */
  readonly notify?: Notify | undefined;
  /** Names of the clusters, by identity. */
  readonly names: ReadonlyMap<string, string>;
}

type Problems = ReadonlyMap<string, FoundProblem>;

const intervalMs = 10_000;

/** Reports what is wrong with Services, as the recording shows it: as metrics, and when it begins and ends in the log and to a webhook. */
export class ProblemReporter {
  readonly #options: ReporterOptions;
  #problems: Problems = new Map();
  /** Those of the last notification. */
  #notified: Problems = new Map();
  #cancel: Cancel | undefined;
  #isClosed = false;
  /** What was logged to fail, until it succeeds. */
  readonly #failing = new Set<string>();
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
    const { recording, clock, rules, observed } = this.#options;
    const overClusters =
      observed && ((open: readonly ServiceProblem[]) => problemsOverClusters(observed, open, clock.now()));
    await this.#attempt('problems not checked; the recording does not answer', async () => {
      const query = { from: 0, to: clock.now(), keys: '%/%/%', isOpen: true, all: false };
      const found = await findProblems(recording, query, { rules, overClusters });
      if (!this.#isClosed) this.#update(new Map(found.map((one) => [`${one.key} ${one.reason}`, one])));
    });
    await this.#attempt('problems not sent to the webhook', () => this.#notify());
  }

  /** Logs a failure, but not each of a row. */
  async #attempt(failure: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.#failing.delete(failure);
    } catch (error) {
      if (!this.#failing.has(failure) && !this.#isClosed) {
        this.#options.logger.warn(failure, { reason: errorMessage(error) });
      }
      this.#failing.add(failure);
    }
  }

  async #notify(): Promise<void> {
    const { notify, clock, names } = this.#options;
    // Nobody needs to act on an info.
    const now = new Map([...this.#problems].filter(([, { severity }]) => severity !== 'info'));
    const before = this.#notified;
    const { added: started, removed: ended } = difference(before, now);
    if (notify === undefined || this.#isClosed || started.length + ended.length === 0) return;
    await notify({ started, ended }, clock.now(), (identity) => names.get(identity) ?? identity);
    this.#notified = now;
  }

  #update(problems: Problems): void {
    const { logger } = this.#options;
    const { added, removed } = difference(this.#problems, problems);
    this.#problems = problems;
    for (const problem of added) {
      const { message, from, severity } = problem;
      const fields = { ...subjectOf(problem), message, since: new Date(from).toISOString() };
      if (severity === 'info') logger.info('problem began', fields);
      else logger.warn('problem began', fields);
    }
    for (const problem of removed) logger.info('problem ended', subjectOf(problem));
  }

  #report(report: (labels: { identity: string; reason: string; severity: string }, value: number) => void): void {
    const groups = Map.groupBy(
      this.#problems.values(),
      ({ key, reason, severity }) => `${parseServiceKey(key).cluster} ${reason} ${severity}`,
    );
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const { key, reason, severity } = first;
      report({ identity: parseServiceKey(key).cluster, reason, severity }, others.length + 1);
    }
  }
}

function difference(before: Problems, now: Problems) {
  const without = (all: Problems, others: Problems) =>
    [...all].flatMap(([name, problem]) => (others.has(name) ? [] : [problem]));
  return { added: without(now, before), removed: without(before, now) };
}

function subjectOf({ key, reason }: FoundProblem) {
  const { cluster, namespace, service } = parseServiceKey(key);
  return { cluster, ...(service !== allOf && { service: `${namespace}/${service}` }), reason };
}
