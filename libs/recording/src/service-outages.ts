import type { NewRecord } from './records.ts';

interface KnownService {
  isOut: boolean;
  lastEvent: string | undefined;
}

/** The Service has no ready endpoint any more, or has one again, or was deleted. */
export interface OutageChange {
  readonly isOut: boolean;
  /** It had none before the first record of the file. */
  readonly isContinued: boolean;
  /** What the slices show, else the last event of the Service or its Pods before. */
  readonly event: string | undefined;
}

/** Finds out from the records of a file when a Service has no ready endpoint. */
export class ServiceOutages {
  readonly #services = new Map<string, KnownService>();

  /** What the record changes; undefined: nothing. */
  observe({ key, endpoints, propagations, text }: NewRecord): OutageChange | undefined {
    if (endpoints === undefined) return undefined;
    const before = this.#services.get(key);
    if (endpoints.isDeleted) {
      this.#services.delete(key);
      return before?.isOut ? { isOut: false, isContinued: false, event: text } : undefined;
    }
    // Slices that were watched are gone; otherwise there may be others.
    if (endpoints.hasReady === null && before === undefined) return undefined;
    const isOut = !endpoints.hasReady;
    // The event that the slices show, rather than the last one that arrived.
    const shown = propagations.findLast(({ place, from }) => place === 'slices' && from === 'ready');
    const lastEvent = shown?.event ?? (endpoints.isEvent ? text : before?.lastEvent);
    this.#services.set(key, { isOut, lastEvent });
    if (isOut === (before?.isOut ?? false)) return undefined;
    return { isOut, isContinued: isOut && before === undefined && !endpoints.isCreated, event: lastEvent };
  }
}
