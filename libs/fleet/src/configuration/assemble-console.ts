import { formatBindAddress, isLoopback } from '@sluice/platform/process';
import { checkPair } from './assemble-bus.ts';
import type { ConsoleConfiguration } from './configuration.ts';
import type { Problems } from './problems.ts';
import type { Values } from './values.ts';

/**
 * Builds the console configuration. A console shows names of everything in the clusters, so listening beyond loopback
 * requires TLS, and a token or readers with tokens of their own.
 */
export function assembleConsole(values: Values, problems: Problems): ConsoleConfiguration {
  const at = values.where('console.bindAddress');
  const {
    bindAddress: address,
    hosts = [],
    token,
    authorizationMode,
    maxBytes,
    maxServices,
    retention: retentionMs,
    lostClusters: action,
    lostClusterMaxAge: maxAgeMs,
    degradedAfter,
    degradedBelow,
    serviceNameLabel,
    ...rest
  } = values.section('console');
  if (address === null) problems.add(`${at} is 0; a console needs an address to listen on`);
  checkPair(values, 'console.tls.cert', 'console.tls.key', problems);
  const { 'tls.cert': cert, 'tls.key': key, jaegerUrl, jaegerQueryUrl } = rest;
  if (token !== undefined && authorizationMode === 'cluster') {
    problems.add(
      `${values.where('console.authorizationMode')} is cluster, but ${values.where('console.token')} is set, with which every reader would see everything; remove one of them`,
    );
  }
  const missing = [
    ...(token === undefined && authorizationMode === 'token' ? ['console.token (--console-token-file)'] : []),
    ...(cert === undefined ? ['console.tls.cert and .key (--console-tls-cert-file, --console-tls-key-file)'] : []),
  ];
  if (address && !isLoopback(address.host) && missing.length > 0) {
    problems.add(
      `${at} is ${formatBindAddress(address)}, which is not loopback; use a loopback address such as 127.0.0.1:10270, or, for "sluice console", set ${missing.join(' and ')} as well`,
    );
  }
  const tls = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  return {
    bindAddress: address ?? undefined,
    hosts,
    token,
    authorizationMode,
    tls,
    maxBytes,
    maxServices,
    retentionMs,
    jaegerUrl,
    jaegerQueryUrl,
    lostClusters: { action, maxAgeMs },
    degraded: { afterMs: degradedAfter, below: degradedBelow },
    serviceNameLabel,
  };
}
