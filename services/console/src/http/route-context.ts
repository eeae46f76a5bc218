import type { Clock } from '@sluice/runtime';
import type { History } from '../history/history.ts';
import type { ConsoleSources } from '../ports.ts';
import type { ThreadBudget } from '../thread-budget.ts';
import type { ServiceIndex } from '../view/service-index.ts';

/** Data and ports of the routes. */
export interface RouteContext {
  readonly history: History;
  readonly index: ServiceIndex;
  readonly sources: ConsoleSources;
  readonly now: () => number;
  readonly clock: Clock;
  readonly budget: ThreadBudget;
  readonly version: string;
  readonly jaeger: string | null;
  /** Number of logs whose older records are still being read. */
  readonly behind: () => number;
}
