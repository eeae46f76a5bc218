import type { ClusterView } from '@sluice/console';
import { type BindAddress, isLoopback, systemClock } from '@sluice/process';
import type { Logger } from '@sluice/runtime';
import { type JaegerAddresses, type LocalConsole, startConsole } from '../../composition/telemetry/start-console.ts';

export interface LocalConsoleOptions extends JaegerAddresses {
  readonly console: boolean;
  readonly metricsBindAddress?: { readonly address: BindAddress | null };
}

/** The console of this process, on the address of its metrics; undefined where it is not wanted or may not listen. */
export function openConsole(
  clusters: () => readonly ClusterView[],
  options: LocalConsoleOptions,
  logger: Logger,
): LocalConsole | undefined {
  const address = options.metricsBindAddress?.address;
  if (address === null || !options.console) return undefined;
  if (address !== undefined && !isLoopback(address)) {
    logger.info('the console is not served here: others could reach it without a token', { see: 'sluice console' });
    return undefined;
  }
  return startConsole(clusters, options, { clock: systemClock, logger });
}

/** What to tell people at the start. */
export function whereToLook(url: string | undefined, hasConsole: boolean): string[] {
  if (url === undefined) return [];
  return [...(hasConsole ? [`Look at it: ${url}`] : []), `Metrics: ${url}/metrics`];
}
