import { isLoopback, UsageError } from '@sluice/platform/process';
import type { Configuration } from '../configuration/index.ts';

type Backends = Pick<Configuration, 'bus' | 'store'>;

/**
 * Anybody on the network could read and forge the messages and the state of the fleet.
 *
 * @throws UsageError if bus or store is on another host and reached without TLS and without credentials
 */
export function rejectPlaintext({ bus, store }: Backends): void {
  for (const [section, address] of [
    ['bus', unprotectedBus(bus)],
    ['store', unprotectedStore(store)],
  ] as const) {
    if (address === undefined) continue;
    throw new UsageError(
      `${section} at ${address} is used without TLS and without credentials: set ${section}.tls or ${section}.username and ` +
        `${section}.password, or allowPlaintext: true (SLUICE_ALLOW_PLAINTEXT=true) on a network that you trust`,
    );
  }
}

function unprotectedBus(bus: Configuration['bus']): string | undefined {
  if (bus.kind === 'nats') {
    return bus.tls === undefined && bus.credentials === undefined ? firstRemote(bus.servers) : undefined;
  }
  if (bus.kind === 'kafka')
    return bus.tls === undefined && bus.sasl === undefined ? firstRemote(bus.brokers) : undefined;
  return undefined;
}

function unprotectedStore(store: Configuration['store']): string | undefined {
  if (store.kind !== 'redis' || store.password !== undefined) return undefined;
  const plain = store.urls
    .map((url) => new URL(url))
    .filter(({ protocol, password }) => protocol === 'redis:' && password === '');
  return firstRemote(plain.map(({ host }) => host));
}

function firstRemote(addresses: readonly string[]): string | undefined {
  return addresses.find((address) => {
    const url = new URL(address.includes('://') ? address : `tcp://${address}`);
    return !isLoopback(url.hostname);
  });
}
