import { type BindAddress, defaultBindAddress, formatBindAddress, UsageError } from '@sluice/process';
import type { Logger } from '@sluice/runtime';
import { serveTelemetry, type TelemetryServer, type TelemetryServerOptions } from './http-server.ts';

/**
 * Serves on the address that the user gave, or says why that cannot be (UsageError). If none was given (undefined), on
 * the default one, or on any free port of loopback where that is taken, so that a second run on one machine just works;
 * undefined if not even that can be.
 */
export async function startTelemetry(
  given: BindAddress | undefined,
  options: TelemetryServerOptions,
  logger: Logger,
  flag = '--metrics-bind-address',
): Promise<TelemetryServer | undefined> {
  if (given !== undefined) {
    try {
      return await serveTelemetry(given, options);
    } catch (error) {
      const hint = flag === '--metrics-bind-address' ? 'give another one, or 0 for none' : 'give another one';
      throw new UsageError(`${flag} ${formatBindAddress(given)}: ${messageOf(error)}; ${hint}`, {
        cause: error,
      });
    }
  }
  for (const address of [defaultBindAddress, { ...defaultBindAddress, port: 0 }]) {
    try {
      return await serveTelemetry(address, options);
    } catch (error) {
      logger.debug('cannot listen here', { address: formatBindAddress(address), reason: messageOf(error) });
    }
  }
  logger.warn('nothing is served: no port of loopback can be had');
  return undefined;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
