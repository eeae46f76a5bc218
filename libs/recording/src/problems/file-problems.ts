import type { NewRecord } from '../records.ts';
import type { ProblemReason } from './problem-reasons.ts';

interface KnownService {
  readonly problems: ReadonlySet<string>;
  readonly lastEvent: string | undefined;
}

/** A problem of a Service begins or ends. */
export type ProblemChange =
  | {
      readonly kind: 'begins';
      readonly reason: ProblemReason;
      readonly message: string;
      /** It may have started before the first record of the file. */
      readonly isContinued: boolean;
      /** What the slices show, else the last event of the Service or its Pods before. */
      readonly event: string | undefined;
    }
  | { readonly kind: 'ends'; readonly reason: string };

/** Finds out from the records of a file when Services have problems. */
export class FileProblems {
  readonly #services = new Map<string, KnownService>();

  /** The cluster was removed: nothing is known of its Services any more. */
  removeCluster(cluster: string): void {
    for (const key of this.#services.keys()) if (key.startsWith(`${cluster}/`)) this.#services.delete(key);
  }

  observe({ key, service, propagations, text }: NewRecord): readonly ProblemChange[] {
    if (service === undefined) return [];
    const before = this.#services.get(key);
    if (service.mayBeUnwatched && before === undefined) return [];
    const { problems, isCreated, isDeleted, isEvent } = service;
    // The event that the slices show, rather than the last one that arrived.
    const shown = propagations.findLast(({ place, from }) => place === 'slices' && from === 'ready');
    const event = shown?.event ?? (isEvent ? text : before?.lastEvent);
    const reasons = Object.keys(problems) as ProblemReason[];
    if (isDeleted && reasons.length === 0) this.#services.delete(key);
    else this.#services.set(key, { problems: new Set(reasons), lastEvent: event });
    const ended = [...(before?.problems ?? [])].filter((reason) => !Object.hasOwn(problems, reason));
    const started = reasons.filter((reason) => !before?.problems.has(reason));
    const isContinued = before === undefined && !isCreated;
    return [
      ...ended.map((reason) => ({ kind: 'ends', reason }) as const),
      ...started.map((reason) => {
        return { kind: 'begins', reason, message: problems[reason] ?? '', isContinued, event } as const;
      }),
    ];
  }
}
