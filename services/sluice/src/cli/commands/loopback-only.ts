import type { Configuration } from '@sluice/fleet/configuration';
import { type BindAddress, isLoopback, UsageError } from '@sluice/platform/process';

/** The address of a console without a token. Undefined: the default one. @throws UsageError if it is not of loopback */
export function loopbackOnly({ metricsBindAddress: address }: Configuration): BindAddress | undefined {
  if (address === null || (address !== undefined && !isLoopback(address.host))) {
    throw new UsageError(
      '--metrics-bind-address must be an address of loopback: it serves what "sluice explain" asks for',
    );
  }
  return address;
}
