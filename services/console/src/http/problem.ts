import type { OutageView } from '../view/schemas.ts';
import type { Moment } from '../view/view-service.ts';
import type { RouteContext } from './route-context.ts';

/** An error response, with a hint what to do about it, and when to try again. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly hint: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, hint?: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.hint = hint;
    this.retryAfter = retryAfter;
  }
}

/** The server because of which the state of the cluster's Services is not current; null if there is none, or before it. */
export function outageOf(
  { sources }: RouteContext,
  cluster: string,
  { at, live }: Pick<Moment, 'at' | 'live'>,
): OutageView | null {
  const known = sources.clusters().find(({ identity }) => identity === cluster);
  const ofCluster = known?.outage === undefined ? null : { what: known.name, ...known.outage };
  const outage = sources.outage?.() ?? ofCluster;
  return outage !== null && (live || at >= outage.since) ? outage : null;
}
