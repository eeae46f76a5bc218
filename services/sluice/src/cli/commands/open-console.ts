import type { ClusterView } from '@sluice/console';
import type { Logger } from '@sluice/platform';
import { isLoopback, systemClock } from '@sluice/platform/process';
import { type ConsolePorts, type LocalConsole, startConsole } from '../../composition/telemetry/start-console.ts';
import type { Run } from './run-options.ts';
import { type Addresses, addressesOf } from './serve-page.ts';

/** Where this process serves. @throws UsageError if the addresses contradict each other */
export const servedAt = ({ console, configuration }: Pick<Run, 'console' | 'configuration'>): Addresses =>
  console ? addressesOf(configuration) : { metrics: configuration.metricsBindAddress };

/** The console of this process; undefined if disabled or if its address is not loopback. */
export function openConsole(
  clusters: () => readonly ClusterView[],
  run: Pick<Run, 'console' | 'configuration'>,
  logger: Logger,
  sources: Partial<Pick<ConsolePorts, 'recording' | 'problemRules' | 'reviewer' | 'trace'>> = {},
): LocalConsole | undefined {
  const { page, metrics } = servedAt(run);
  const address = page ?? metrics;
  if (address === null || !run.console) return undefined;
  if (address !== undefined && !isLoopback(address.host)) {
    logger.info('console disabled: the bind address is not loopback; set --console-bind-address to a loopback address');
    return undefined;
  }
  return startConsole(clusters, run.configuration.console, { clock: systemClock, logger, ...sources });
}
