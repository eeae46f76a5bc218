import { errorMessage, type Logger } from '@sluice/platform';
import { type BindAddress, defaultBindAddress, formatBindAddress, UsageError } from '@sluice/platform/process';
import { serveTelemetry, type TelemetryServer, type TelemetryServerOptions } from './http-server.ts';

/**
 * Serves on the given address, or throws a UsageError. Without one, serves on the default address, or on a free loopback
 * port if that is taken, so that a second process on the machine works. Returns undefined if there is no such port.
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
      const hint =
        flag === '--metrics-bind-address' ? 'choose another address, or 0 to disable it' : 'choose another address';
      throw new UsageError(`${flag} ${formatBindAddress(given)}: ${errorMessage(error)}; ${hint}`, {
        cause: error,
      });
    }
  }
  for (const address of [defaultBindAddress, { ...defaultBindAddress, port: 0 }]) {
    try {
      return await serveTelemetry(address, options);
    } catch (error) {
      logger.debug('cannot listen on address', { address: formatBindAddress(address), reason: errorMessage(error) });
    }
  }
  logger.warn('metrics and health are not served: no loopback port is available');
  return undefined;
}
