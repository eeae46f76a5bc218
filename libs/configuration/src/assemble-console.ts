import { formatBindAddress, isLoopback } from '@sluice/process';
import { checkPair } from './assemble-bus.ts';
import type { ConsoleConfiguration } from './configuration.ts';
import type { Problems } from './problems.ts';
import type { Values } from './values.ts';

/**
 * Builds the console configuration. A console shows names of everything in the clusters, so listening beyond loopback
 * requires a token and TLS.
 */
export function assembleConsole(values: Values, problems: Problems): ConsoleConfiguration {
  const at = values.where('console.bindAddress');
  const address = values.get('console.bindAddress');
  if (address === null) problems.add(`${at} is 0; a console needs an address to listen on`);
  checkPair(values, 'console.tls.cert', 'console.tls.key', problems);
  const [token, cert, key] = [
    values.get('console.token'),
    values.get('console.tls.cert'),
    values.get('console.tls.key'),
  ];
  const missing = [
    ...(token === undefined ? ['console.token (--console-token-file)'] : []),
    ...(cert === undefined ? ['console.tls.cert and .key (--console-tls-cert-file, --console-tls-key-file)'] : []),
  ];
  if (address && !isLoopback(address.host) && missing.length > 0) {
    problems.add(
      `${at} is ${formatBindAddress(address)}, which is not loopback; set ${missing.join(' and ')} as well, or use a loopback address such as 127.0.0.1:10270`,
    );
  }
  return {
    bindAddress: address ?? undefined,
    hosts: values.get('console.hosts') ?? [],
    token,
    tls: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    maxBytes: values.need('console.maxBytes'),
    retentionMs: values.need('console.retention'),
    jaegerUrl: values.get('console.jaegerUrl'),
    jaegerQueryUrl: values.get('console.jaegerQueryUrl'),
  };
}
