import type { NewRecord } from './records.ts';

interface KnownService {
  /** Ready endpoints by slice. */
  readonly slices: Map<string, number>;
  isOut: boolean;
  lastEvent: string | undefined;
  /** Its first snapshot is not complete yet. */
  isNew: boolean;
}

/** The Service has no ready endpoint any more, or has one again, or was deleted. */
export interface OutageChange {
  readonly isOut: boolean;
  /** It had none before the first record of the file. */
  readonly isContinued: boolean;
  /** The last event of the Service or its Pods before. */
  readonly event: string | undefined;
}

/** Finds out from the slices in the records when a Service has no ready endpoint. */
export class ServiceOutages {
  readonly #services = new Map<string, KnownService>();

  /** What the record changes; undefined: nothing. A Service is known from its first snapshot on. */
  observe({ key, startsSnapshot, endpoints, text }: NewRecord): OutageChange | undefined {
    const before = this.#services.get(key);
    if (endpoints === undefined || (before === undefined && !startsSnapshot)) return undefined;
    if (endpoints.isDeleted) {
      this.#services.delete(key);
      return before?.isOut ? { isOut: false, isContinued: false, event: text } : undefined;
    }
    const service = before ?? { slices: new Map<string, number>(), isOut: false, lastEvent: undefined, isNew: true };
    this.#services.set(key, service);
    if (endpoints.isEvent) service.lastEvent = text;
    if (startsSnapshot) service.slices.clear();
    for (const [slice, ready] of endpoints.ready) {
      if (ready === null) service.slices.delete(slice);
      else service.slices.set(slice, ready);
    }
    const isOut = service.slices.values().every((ready) => ready === 0);
    if (endpoints.isContinued) return undefined;
    const { isNew } = service;
    service.isNew = false;
    if (isOut === service.isOut) return undefined;
    service.isOut = isOut;
    return { isOut, isContinued: isOut && isNew, event: service.lastEvent };
  }
}
