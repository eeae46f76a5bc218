import type { NatsCredentials } from '@sluice/bus/jetstream';
import type { BusConfiguration, KafkaConfiguration } from './configuration.ts';
import type { Problems } from './problems.ts';
import type { Path } from './setting-paths.ts';
import { defined, type Values } from './values.ts';

type Nats = Extract<BusConfiguration, { kind: 'nats' }>;

/** Builds the bus configuration and checks that its settings are consistent. */
export function assembleBus(values: Values, problems: Problems): BusConfiguration {
  const kind = values.get('bus.kind');
  if (kind !== 'nats' && kind !== 'kafka') return { kind: 'memory' };
  const servers = serversOf(values, kind, problems);
  const tls = tlsOf(values, servers, problems);
  return kind === 'nats' ? nats(values, servers, tls, problems) : kafka(values, servers, tls, problems);
}

function nats(values: Values, servers: readonly string[], tls: Nats['tls'], problems: Problems): Nats {
  const replicas = values.need('bus.replicas');
  if (![1, 3, 5].includes(replicas)) {
    problems.add(`${values.where('bus.replicas')} is ${replicas}; expected 1, 3 or 5 with NATS`);
  }
  const duplicateWindowMs = values.get('bus.duplicateWindow');
  const maxAgeMs = retention(values);
  for (const topic of ['changes', 'mutations', 'requests'] as const) {
    if (maxAgeMs[topic] < duplicateWindowMs) {
      problems.add(
        `${values.where(`bus.maxAge.${topic}`)} is less than bus.duplicateWindow; raise it to at least that`,
      );
    }
  }
  return {
    kind: 'nats',
    servers: servers.map((server) => (server.includes('://') ? server : `nats://${server}`)),
    ...defined({ credentials: credentialsOfNats(values, problems), tls }),
    replicas,
    duplicateWindowMs,
    maxAgeMs,
    maxBytes: values.section('bus.maxBytes'),
    connectWithinMs: values.get('bus.connectWithin'),
  };
}

function credentialsOfNats(values: Values, problems: Problems): NatsCredentials | undefined {
  const methods = (['bus.username', 'bus.token', 'bus.nkeySeed', 'bus.creds'] as const).filter((method) =>
    values.has(method),
  );
  if (methods.length > 1) {
    const all = methods.map((method) => values.where(method)).join(', ');
    problems.add(`${all} are mutually exclusive; set one of them`);
  }
  const { token, nkeySeed, creds } = values.section('bus');
  if (token !== undefined) return { token };
  if (nkeySeed !== undefined) return { nkeySeed };
  if (creds !== undefined) return { creds };
  const user = userOf(values, problems);
  return user && { user: user.username, password: user.password };
}

function kafka(
  values: Values,
  servers: readonly string[],
  tls: Nats['tls'],
  problems: Problems,
): { readonly kind: 'kafka' } & KafkaConfiguration {
  const replicationFactor = values.need('bus.replicas');
  values.setDefault('bus.minInsyncReplicas', Math.min(2, replicationFactor));
  const minInsyncReplicas = values.need('bus.minInsyncReplicas');
  if (minInsyncReplicas > replicationFactor) {
    problems.add(
      `${values.where('bus.minInsyncReplicas')} is ${minInsyncReplicas}; expected at most bus.replicas, ${replicationFactor}`,
    );
  }
  const user = userOf(values, problems);
  return {
    kind: 'kafka',
    brokers: servers.map((server) => {
      const address = server.replace(/^kafka:\/\//, '');
      return /:\d+$/.test(address) ? address : `${address}:9092`;
    }),
    ...(tls && { tls: { ...tls, ...defined({ servername: values.get('bus.tls.serverName') }) } }),
    ...(user && { sasl: { mechanism: values.get('bus.mechanism'), ...user } }),
    replicationFactor,
    minInsyncReplicas,
    retentionMs: retention(values),
    retentionBytes: values.section('bus.maxBytes'),
    maxMessageBytes: values.get('bus.maxMessageBytes'),
    connectWithinMs: values.get('bus.connectWithin'),
  };
}

function serversOf(values: Values, kind: 'nats' | 'kafka', problems: Problems): readonly string[] {
  const servers = values.get('bus.servers') ?? [];
  const schemes = kind === 'nats' ? ['nats', 'tls'] : ['kafka'];
  if (servers.length === 0) problems.add(`${values.where('bus.kind')} is ${kind}, but bus.servers is empty`);
  for (const [index, server] of servers.entries()) {
    const [, scheme] = /^([a-z]+):\/\//.exec(server) ?? [];
    if (scheme !== undefined && !schemes.includes(scheme)) {
      problems.add(
        `${values.where('bus.servers')}: entry ${index + 1} starts with ${scheme}://; expected ${schemes.join(':// or ')}:// because bus.kind is ${kind}`,
      );
    }
    if (Number(/:(\d+)$/.exec(server)?.[1] ?? 1) > 65_535) {
      problems.add(`${values.where('bus.servers')}: entry ${index + 1} has an invalid port; expected 1 to 65535`);
    }
  }
  return servers;
}

const tlsPaths = ['bus.tls.ca', 'bus.tls.cert', 'bus.tls.key', 'bus.tls.serverName'] as const;

function tlsOf(values: Values, servers: readonly string[], problems: Problems): Nats['tls'] {
  const byScheme = servers.some((server) => server.startsWith('tls://'));
  values.setDefault('bus.tls.enabled', byScheme || tlsPaths.some((path) => values.has(path)));
  const enabled = values.need('bus.tls.enabled');
  if (!enabled && byScheme) {
    problems.add(`${values.where('bus.tls.enabled')} is false, but bus.servers starts with tls://: remove one of them`);
  }
  checkPair(values, 'bus.tls.cert', 'bus.tls.key', problems);
  const { ca, cert, key } = values.section('bus.tls');
  return enabled ? defined({ ca, cert, key }) : undefined;
}

/** Requires that both settings are given, or neither. */
export function checkPair(values: Values, one: Path, other: Path, problems: Problems): void {
  for (const [given, missing] of [
    [one, other],
    [other, one],
  ] as const) {
    if (values.has(given) && !values.has(missing)) {
      problems.add(`${values.where(given)} is set without ${missing}; set both`);
    }
  }
}

function userOf(values: Values, problems: Problems) {
  checkPair(values, 'bus.username', 'bus.password', problems);
  const [username, password] = [values.get('bus.username'), values.get('bus.password')];
  return username === undefined || password === undefined ? undefined : { username, password };
}

function retention(values: Values) {
  return { ...values.section('bus.maxAge'), requests: values.need('bus.maxAge.requests') };
}
