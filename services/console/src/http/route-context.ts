import type { LostClusterPolicy, ReadableLogicalServices } from '@sluice/logical-services';
import type { Clock } from '@sluice/platform';
import { z } from 'zod';
import type { Place } from '../access/reader.ts';
import type { History } from '../history/history.ts';
import type { ConsoleSources } from '../ports.ts';
import type { ThreadBudget } from '../thread-budget.ts';
import type { LogicalServiceIndex } from '../view/logical-service-index.ts';
import type { ServiceIndex } from '../view/service-index.ts';
import type { DegradedPolicy } from '../view/service-status.ts';

/** What routes read of the history. */
export interface ReadableHistory
  extends Pick<History, 'journals' | 'get' | 'since' | 'retentionMs' | 'bytes' | 'servicesLimit' | 'onRecord'> {
  readonly logicalServices: ReadableLogicalServices;
  /** Whether the reader may see a namespace. Default: all. */
  readonly sees?: (place: Place) => boolean;
}

/** Data and ports of the routes, limited to what the reader may see. */
export interface RouteContext {
  readonly history: ReadableHistory;
  readonly index: ServiceIndex;
  readonly logicalServices: LogicalServiceIndex;
  readonly lostClusters: LostClusterPolicy;
  readonly degraded: DegradedPolicy;
  readonly sources: ConsoleSources;
  readonly now: () => number;
  readonly clock: Clock;
  readonly budget: ThreadBudget;
  readonly version: string;
  readonly jaeger: string | null;
  /** Number of logs whose older records are still being read. */
  readonly behind: () => number;
}

/** Path and query parameters of the API. */
export const text = z.string().min(1).max(512);
const time = z.coerce.number().int().min(0).describe('milliseconds since the Unix epoch');
export const noParams = z.object({});
export const serviceParams = z.object({ cluster: text.describe('UID or name'), namespace: text, service: text });
export const atTime = z.object({ at: time.optional().describe('show the state at this time; default: now') });
export const period = { since: time.optional(), until: time.optional() };
export const historyFilter = z.object({
  ...period,
  pod: text.optional().describe('only entries of this Pod'),
});

export type ServiceParams = z.infer<typeof serviceParams>;
export type HistoryFilter = z.infer<typeof historyFilter>;
