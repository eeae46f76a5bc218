import type { Configuration } from '@sluice/fleet/configuration';
import type { Logger } from '@sluice/platform';
import { type BindAddress, formatBindAddress, isLoopback, UsageError } from '@sluice/platform/process';
import { startTelemetry } from '@sluice/telemetry';
import { defaultUrl } from './client-for.ts';

/** Where a process serves its page, which has no token, and its metrics. */
export interface Addresses {
  /** Undefined: that of the metrics. */
  readonly page?: BindAddress | undefined;
  /** Null: none. Undefined: the default one. */
  readonly metrics: BindAddress | null | undefined;
}

type Given = Pick<Configuration, 'metricsBindAddress'> & {
  readonly console: Pick<Configuration['console'], 'bindAddress'>;
};

/** @throws UsageError if the page has an address beyond loopback, or one that the metrics need */
export function addressesOf({ console: { bindAddress: page }, metricsBindAddress: metrics }: Given): Addresses {
  if (page === undefined) return { metrics };
  const given = `--console-bind-address ${formatBindAddress(page)}`;
  if (!isLoopback(page.host)) {
    throw new UsageError(
      `${given} is not loopback, and this page has no token: use a loopback address such as 127.0.0.1:10280`,
    );
  }
  if (metrics && overlap(page, metrics)) {
    throw new UsageError(
      `${given} is also needed by --metrics-bind-address ${formatBindAddress(metrics)}: choose another port, or remove --console-bind-address to serve both on one address`,
    );
  }
  return { page, metrics };
}

/** Of a process that is useless without its page. @throws UsageError like `addressesOf`, or if the page has no address */
export function pageAddressesOf(given: Given): Addresses {
  const addresses = addressesOf(given);
  const page = addresses.page ?? addresses.metrics;
  if (page === null || (page !== undefined && !isLoopback(page.host))) {
    throw new UsageError(
      '--metrics-bind-address must be a loopback address, because the page has no token; to serve metrics elsewhere, pass --console-bind-address 127.0.0.1:10280 as well',
    );
  }
  return addresses;
}

/** Whether both need the same port of the same interface. */
function overlap(loopback: BindAddress, { host, port }: BindAddress): boolean {
  return port !== 0 && port === loopback.port && ['', '0.0.0.0', '::', loopback.host].includes(host);
}

interface Served {
  /** Lines to print at startup. */
  readonly introduction: readonly string[];
  /** URL of the page, if there is one. */
  readonly page: string | undefined;
  close(): Promise<void>;
}

/** Serves metrics and health, and the page, `otherwise`, with them or at its own address. */
export async function serve(
  { page, metrics: address }: Addresses,
  telemetry: Parameters<typeof startTelemetry>[1],
  logger: Logger,
): Promise<Served> {
  const { otherwise, ...plain } = telemetry;
  // First, because the default address of the metrics gives way.
  const own = otherwise && page ? await startTelemetry(page, telemetry, logger, '--console-bind-address') : undefined;
  try {
    const metrics = address === null ? undefined : await startTelemetry(address, own ? plain : telemetry, logger);
    const page = (own ?? (otherwise && metrics))?.url;
    return {
      introduction: lines(page, metrics?.url),
      page,
      close: async () => void (await Promise.all([own?.close(), metrics?.close()])),
    };
  } catch (error) {
    await own?.close();
    throw error;
  }
}

function lines(page: string | undefined, metrics: string | undefined): readonly string[] {
  const hint = page === defaultUrl ? '' : ` (commands need --console ${page})`;
  return [
    ...(page === undefined ? [] : [`Console: ${page}${hint}`]),
    ...(metrics === undefined ? [] : [`Metrics: ${metrics}/metrics`]),
  ];
}
