import { type FlipResults, FlipTracker } from './flip-tracker.ts';
import { parseEvent } from './pod-readiness-event.ts';
import { endpointsCapacity, isBenchNamespace, type Shape } from './shape.ts';

type Entry =
  | { readonly kind: 'sent'; readonly pod: string; readonly ready: boolean }
  | { readonly kind: 'answered'; readonly pod: string; readonly ready: boolean; readonly at: number }
  | { readonly kind: 'failed'; readonly pod: string }
  | { readonly kind: 'version'; readonly line: Buffer; readonly at: number };

/**
 * Measures how long flips take to arrive in Endpoints. It records what happens with its time, and parses the versions only in
 * `settle`: they have up to 1,000 addresses each.
 *
 * Endpoints of more Pods than `endpointsCapacity` are truncated: a Pod may be absent because it is not ready, or because others take
 * the place. There, only flips to not ready of Pods in the last version are measured, until a version lacks the Pod.
 */
export class EndpointsFlips {
  readonly #tracker = new FlipTracker();
  readonly #isTruncated: boolean;
  /** Ready Pods of the last version, if it is truncated. */
  #listed: ReadonlySet<string> = new Set();
  #recorded: Entry[] = [];

  constructor({ pods }: Shape) {
    this.#isTruncated = pods > endpointsCapacity;
  }

  /** Call before sending the write of a flip. */
  sent(pod: string, ready: boolean): void {
    this.#recorded.push({ kind: 'sent', pod, ready });
  }

  /** Call on the response to that write. */
  answered(pod: string, ready: boolean, at: number): void {
    this.#recorded.push({ kind: 'answered', pod, ready, at });
  }

  /** Call if that write failed. */
  failed(pod: string): void {
    this.#recorded.push({ kind: 'failed', pod });
  }

  /** Call for each line of the watch of Endpoints. */
  version(line: Buffer, at: number): void {
    this.#recorded.push({ kind: 'version', line, at });
  }

  /** Number of flips that wait, as of the last `settle`. */
  get pending(): number {
    return this.#tracker.pending;
  }

  /** Processes what was recorded. Other events are handled in between, so that they get their time. */
  async settle(): Promise<void> {
    while (this.#recorded.length > 0) {
      const entries = this.#recorded;
      this.#recorded = [];
      for (const entry of entries) {
        this.#apply(entry);
        if (entry.kind === 'version') await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  results(): FlipResults {
    return this.#tracker.results();
  }

  #apply(entry: Entry): void {
    if (entry.kind === 'sent') this.#sent(entry.pod, entry.ready);
    else if (entry.kind === 'answered') this.#tracker.acknowledged(entry.pod, entry.ready, entry.at);
    else if (entry.kind === 'failed') this.#tracker.withdraw(entry.pod);
    else this.#version(entry.line, entry.at);
  }

  #sent(pod: string, ready: boolean): void {
    if (!this.#isTruncated) return this.#tracker.sent(pod, ready);
    if (ready) this.#tracker.withdraw(pod);
    else if (this.#listed.has(pod)) this.#tracker.sent(pod, ready);
  }

  #version(line: Buffer, at: number): void {
    const event = parseEvent(line.toString());
    if (event === undefined || event.deleted || !isBenchNamespace(event.namespace)) return;
    if (!this.#isTruncated) {
      for (const { name, ready } of event.pods) this.#tracker.shown(name, ready, at);
      return;
    }
    this.#listed = new Set(event.pods.filter(({ ready }) => ready).map(({ name }) => name));
    for (const pod of this.#tracker.waiting) if (!this.#listed.has(pod)) this.#tracker.shown(pod, false, at);
  }
}
