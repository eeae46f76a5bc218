import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServingCertificate } from './openssl.ts';

/** One broker's place in its cluster; each is a controller too (KRaft). */
export interface BrokerPlace {
  /** From 1. */
  readonly id: number;
  readonly directory: string;
  readonly port: number;
  readonly internalPort: number;
  readonly controllerPort: number;
  /** `id@host:port` of every controller, with commas. */
  readonly voters: string;
  readonly brokers: number;
}

/** Who may come, and how. */
export interface KafkaSecurity {
  /** Passwords by name of user: clients sign in with SCRAM-SHA-512. Default: anybody may come. */
  readonly users?: Readonly<Record<string, string>>;
  /** Clients use TLS; `mutual` if they must show a certificate of the same authority. */
  readonly tls?: boolean | 'mutual';
  /** Rights are checked: this user may do everything, the others what ACLs give them. Default: all may do everything. */
  readonly superUser?: string;
}

export function dataDirectory(directory: string): string {
  return join(directory, 'data');
}

/** The lines of server.properties. Clients come to CLIENTS; the brokers speak among themselves on loopback, plainly. */
export function brokerProperties(
  { id, directory, port, internalPort, controllerPort, voters, brokers }: BrokerPlace,
  security: KafkaSecurity,
  certificate: ServingCertificate | undefined,
): Record<string, string> {
  const { users, superUser } = security;
  const protocol = `${users === undefined ? '' : 'SASL_'}${certificate === undefined ? 'PLAINTEXT' : 'SSL'}`;
  // Three copies of what the cluster keeps for itself are enough; one broker has but one.
  const copies = String(Math.min(3, brokers));
  return {
    'process.roles': 'broker,controller',
    'node.id': String(id),
    'controller.quorum.voters': voters,
    'controller.listener.names': 'CONTROLLER',
    listeners: [
      `CLIENTS://127.0.0.1:${port}`,
      `INTERNAL://127.0.0.1:${internalPort}`,
      `CONTROLLER://127.0.0.1:${controllerPort}`,
    ].join(),
    'advertised.listeners': `CLIENTS://127.0.0.1:${port},INTERNAL://127.0.0.1:${internalPort}`,
    'listener.security.protocol.map': `CLIENTS:${protocol},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'inter.broker.listener.name': 'INTERNAL',
    'log.dirs': dataDirectory(directory),
    // After a kill, the broker may come back only when the controller has given up the one that was killed.
    'broker.session.timeout.ms': brokers === 1 ? '1000' : '3000',
    'broker.heartbeat.interval.ms': '200',
    // Several brokers share a busy machine: no election because one of them got no turn.
    'controller.quorum.fetch.timeout.ms': '10000',
    'controller.quorum.election.timeout.ms': '3000',
    // Each partition has two index files, made at this size: 10 MB by default.
    'log.index.size.max.bytes': '131072',
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': '1',
    ...(users === undefined ? {} : scram()),
    ...(certificate === undefined ? {} : tls(directory, certificate, security.tls === 'mutual')),
    ...(superUser === undefined ? {} : authorizer(superUser)),
  };
}

function scram(): Record<string, string> {
  const login = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  return {
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.clients.scram-sha-512.sasl.jaas.config': login,
  };
}

function tls(directory: string, certificate: ServingCertificate, mutual: boolean): Record<string, string> {
  const keystore = join(directory, 'keystore.pem');
  const parts = [certificate.key, certificate.certificate].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(keystore, parts.join(''), { mode: 0o600 });
  return {
    'listener.name.clients.ssl.keystore.type': 'PEM',
    'listener.name.clients.ssl.keystore.location': keystore,
    'listener.name.clients.ssl.truststore.type': 'PEM',
    'listener.name.clients.ssl.truststore.location': certificate.ca,
    'listener.name.clients.ssl.client.auth': mutual ? 'required' : 'none',
  };
}

/** The brokers themselves are ANONYMOUS on their plain listeners. */
function authorizer(superUser: string): Record<string, string> {
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:ANONYMOUS;User:${superUser}`,
  };
}
