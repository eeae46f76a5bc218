import type { ClusterView } from '@sluice/console';
import type { Logger } from '@sluice/platform';
import { isLoopback, systemClock } from '@sluice/platform/process';
import { type LocalConsole, startConsole } from '../../composition/telemetry/start-console.ts';
import { defaultUrl } from './client-for.ts';
import type { Run } from './run-options.ts';

/** The console of this process, on the metrics address; undefined if disabled or if the address is not loopback. */
export function openConsole(
  clusters: () => readonly ClusterView[],
  { console, configuration }: Pick<Run, 'console' | 'configuration'>,
  logger: Logger,
): LocalConsole | undefined {
  const address = configuration.metricsBindAddress;
  if (address === null || !console) return undefined;
  if (address !== undefined && !isLoopback(address.host)) {
    logger.info('console disabled: the bind address is not loopback; run "sluice console" instead');
    return undefined;
  }
  return startConsole(clusters, configuration.console, { clock: systemClock, logger });
}

/** Lines to print at startup. */
export function addresses(url: string | undefined, hasConsole: boolean): string[] {
  if (url === undefined) return [];
  const hint = url === defaultUrl ? '' : ` (commands need --console ${url})`;
  return [...(hasConsole ? [`Console: ${url}${hint}`] : []), `Metrics: ${url}/metrics`];
}
