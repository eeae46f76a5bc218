import { ExistingServices } from '../existing-services.ts';
import type { RecordedPeriod } from '../queries.ts';
import type { ProblemReason } from './problem-reasons.ts';

/** Time in which a Service had a problem, in milliseconds since the Unix epoch. */
export interface ServiceProblem {
  /** Formatted key of the Service. Parts may be `allOf`. */
  readonly key: string;
  readonly reason: ProblemReason;
  /** For people, from when it began. */
  readonly message: string;
  readonly from: number;
  /** Null: it continues, or did at the end of the recording. */
  readonly to: number | null;
  /** False: it began before the recording, or before the Service was first published. */
  readonly isStartKnown: boolean;
  /** The last event of the Service or its Pods before; null: none was recorded. */
  readonly event: string | null;
}

/** A problem as far as one file knows it: with `to` null, it continues after the file. */
export interface FileProblem extends Omit<ServiceProblem, 'isStartKnown'> {
  /** It began before the file. */
  readonly isContinued: boolean;
}

/** What a file knows of a period. */
interface FileContent {
  readonly period: RecordedPeriod;
  /** When each Service of the file was first published whole. */
  readonly firstSnapshots: ReadonlyMap<string, number>;
  /** In the order of their start. */
  readonly problems: readonly FileProblem[];
}

/** They differ only in what was before. A recorder that has just started does not know it, but the file before does. */
const knownByPast: readonly (readonly ProblemReason[])[] = [
  ['NoMatchingPods', 'ScaledToZero'],
  ['NoReadyEndpoints', 'NotStarted'],
];

/** Joins the problems that continue from file to file, which are added in their order. */
export class JoinedProblems {
  readonly #problems: ServiceProblem[] = [];
  /** Those without an end, by Service and reason. */
  readonly #open = new Map<string, number>();
  readonly #existing = new ExistingServices();
  #recordedUntil = 0;

  addFile({ period, firstSnapshots, problems }: FileContent): void {
    const before = [...this.#open];
    this.#existing.addFile(period, firstSnapshots);
    const continued = new Set<string>();
    for (const { isContinued, ...problem } of problems) {
      const id = isContinued ? this.#continued(problem) : idOf(problem);
      if (isContinued) continued.add(id);
      if (isContinued && this.#open.has(id)) {
        if (problem.to !== null) this.#end(id, problem.to);
        continue;
      }
      // It had recovered before it began again.
      this.#end(id, Math.min(firstSnapshots.get(problem.key) ?? problem.from, problem.from));
      const index = this.#problems.push({ ...problem, isStartKnown: !isContinued }) - 1;
      if (problem.to === null) this.#open.set(id, index);
      else this.#open.delete(id);
    }
    // A Service that is published in this file without the problem had recovered before, or it was deleted during a gap.
    for (const [id, index] of before) {
      if (continued.has(id) || this.#open.get(id) !== index) continue;
      const key = this.#problems[index]?.key ?? '';
      const at = firstSnapshots.get(key);
      if (at !== undefined) this.#end(id, at);
      else if (!this.#existing.has(key, period.to)) this.#end(id, this.#recordedUntil);
    }
    this.#recordedUntil = period.to;
  }

  /** Those that overlap with a period, in the order of their start. */
  in({ from, to }: RecordedPeriod): readonly ServiceProblem[] {
    return this.#problems.filter((one) => one.from <= to && (one.to === null || one.to >= from));
  }

  /** Id of the problem that this one continues. */
  #continued(problem: Pick<FileProblem, 'key' | 'reason'>): string {
    const other = knownByPast
      .find((reasons) => reasons.includes(problem.reason))
      ?.find((one) => one !== problem.reason);
    const [id, otherId] = [idOf(problem), other && idOf({ key: problem.key, reason: other })];
    return !this.#open.has(id) && otherId !== undefined && this.#open.has(otherId) ? otherId : id;
  }

  #end(id: string, to: number): void {
    const index = this.#open.get(id) ?? -1;
    const problem = this.#problems[index];
    if (problem !== undefined) this.#problems[index] = { ...problem, to };
    this.#open.delete(id);
  }
}

const idOf = ({ key, reason }: Pick<ServiceProblem, 'key' | 'reason'>): string => `${key} ${reason}`;
