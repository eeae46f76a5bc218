import { clusterStatuses, LogicalServiceIndex, type ObservedServices, ThreadBudget } from '@sluice/console';
import { type ConditionType, conditionTypes } from '@sluice/logical-services';
import { type Cancel, type Clock, errorMessage, type Logger } from '@sluice/platform';
import type { Metrics } from '@sluice/telemetry';

interface Options extends ObservedServices {
  readonly metrics: Pick<Metrics, 'report'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const intervalMs = 10_000;
/** Share of the thread for counting: a scrape must not wait for a million Services. */
const threadShare = 0.1;
const types = Object.keys(conditionTypes) as ConditionType[];

/** For what reads all Services regularly, and not for a person. */
export const backgroundIndex = (clock: Clock): LogicalServiceIndex =>
  new LogicalServiceIndex(new ThreadBudget(clock, threadShare));

/**
 * Reports how many Services have each condition, seen over all clusters, if there are several. Returns a function that stops this.
 */
export function reportLogicalServices({ metrics, clock, logger, ...observed }: Options): () => void {
  const { history, index, policy } = observed;
  let counts: Readonly<Record<string, number>> | undefined;
  let isClosed = false;
  let cancel: Cancel = () => {};
  const count = async () => {
    const clusters = clusterStatuses(observed);
    if (clusters.length < 2) {
      counts = undefined;
      return;
    }
    const query = { sort: 'name', offset: 0, limit: 1 } as const;
    const found = await index.list(history.logicalServices, query, { clusters, policy, now: clock.now() });
    counts = found.counts;
  };
  const schedule = () => {
    if (isClosed) return;
    cancel = clock.schedule(intervalMs, () => {
      count()
        .catch((error: unknown) => logger.warn('Services of all clusters not counted', { reason: errorMessage(error) }))
        .finally(schedule);
    });
  };
  schedule();
  const hide = metrics.report('sluice_logical_services', (report) => {
    if (counts === undefined) return;
    for (const condition of types) report({ condition, severity: conditionTypes[condition] }, counts[condition] ?? 0);
  });
  return () => {
    isClosed = true;
    cancel();
    hide();
  };
}
