import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServingCertificate } from './openssl.ts';

/** One node of the cluster, which is broker and controller (KRaft). */
export interface KafkaNode {
  /** Starts at 1. */
  readonly id: number;
  readonly directory: string;
  readonly port: number;
  readonly internalPort: number;
  readonly controllerPort: number;
  /** `id@host:port` of all controllers, separated by commas. */
  readonly voters: string;
  readonly brokers: number;
  readonly additionalListeners: readonly KafkaListener[];
}

/** A listener for clients that reach the broker at another port, for example through a proxy. */
export interface KafkaListener {
  readonly port: number;
  /** The port that the broker names to clients of this listener. */
  readonly advertisedPort: number;
}

/** Authentication and authorization of clients. */
export interface KafkaSecurity {
  /** Passwords by user name. Clients authenticate with SCRAM-SHA-512. Default: no authentication. */
  readonly users?: Readonly<Record<string, string>>;
  /** Clients use TLS. `mutual` requires a client certificate of the same authority. */
  readonly tls?: boolean | 'mutual';
  /** Enables ACLs, with this user as the super user. Default: no authorization. */
  readonly superUser?: string;
}

export function dataDirectory(directory: string): string {
  return join(directory, 'data');
}

/**
 * The lines of server.properties. Clients use the listener CLIENTS, brokers INTERNAL and CONTROLLER on loopback. If clients
 * authenticate, brokers do too, because any user of the machine can reach loopback; with ACLs, they are ANONYMOUS.
 */
export function brokerProperties(
  node: KafkaNode,
  security: KafkaSecurity & { readonly brokerPassword: string },
  certificate: ServingCertificate | undefined,
): Record<string, string> {
  const { id, directory, port, internalPort, controllerPort, voters, brokers, additionalListeners } = node;
  const { users, superUser, brokerPassword } = security;
  const authenticatesBrokers = users !== undefined && superUser === undefined;
  const internal = authenticatesBrokers ? 'SASL_PLAINTEXT' : 'PLAINTEXT';
  const more = (text: (listener: KafkaListener, name: string) => string) =>
    additionalListeners.map((listener, index) => text(listener, `CLIENTS_${index + 1}`));
  const protocol = `${users === undefined ? '' : 'SASL_'}${certificate === undefined ? 'PLAINTEXT' : 'SSL'}`;
  // Replicas of Kafka's internal topics.
  const internalReplicas = String(Math.min(3, brokers));
  return {
    'process.roles': 'broker,controller',
    'node.id': String(id),
    'controller.quorum.voters': voters,
    'controller.listener.names': 'CONTROLLER',
    listeners: [
      `CLIENTS://127.0.0.1:${port}`,
      `INTERNAL://127.0.0.1:${internalPort}`,
      `CONTROLLER://127.0.0.1:${controllerPort}`,
      ...more((listener, name) => `${name}://127.0.0.1:${listener.port}`),
    ].join(),
    'advertised.listeners': [
      `CLIENTS://127.0.0.1:${port}`,
      `INTERNAL://127.0.0.1:${internalPort}`,
      ...more((listener, name) => `${name}://127.0.0.1:${listener.advertisedPort}`),
    ].join(),
    'listener.security.protocol.map': [
      `CLIENTS:${protocol}`,
      `INTERNAL:${internal}`,
      `CONTROLLER:${internal}`,
      ...more((_, name) => `${name}:${protocol}`),
    ].join(),
    'inter.broker.listener.name': 'INTERNAL',
    'log.dirs': dataDirectory(directory),
    // A killed broker can rejoin only after the controller has expired its session.
    'broker.session.timeout.ms': brokers === 1 ? '1000' : '3000',
    'broker.heartbeat.interval.ms': '200',
    // Avoid controller elections when the machine is busy.
    'controller.quorum.fetch.timeout.ms': '10000',
    'controller.quorum.election.timeout.ms': '3000',
    // Each partition preallocates two index files of this size; the default is 10 MB.
    'log.index.size.max.bytes': '131072',
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': internalReplicas,
    'transaction.state.log.replication.factor': internalReplicas,
    'transaction.state.log.min.isr': '1',
    ...(users === undefined ? {} : scram()),
    ...(authenticatesBrokers ? brokerLogin(brokerPassword) : {}),
    ...(certificate === undefined ? {} : tls(directory, certificate, security.tls === 'mutual')),
    ...(superUser === undefined ? {} : authorizer(superUser)),
  };
}

function scram(): Record<string, string> {
  const login = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  return {
    'listener.name.clients.sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.clients.scram-sha-512.sasl.jaas.config': login,
  };
}

const brokerUser = 'broker';

/** Controllers do not support SCRAM. */
function brokerLogin(password: string): Record<string, string> {
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
  const login = `${module} username="${brokerUser}" password="${password}" user_${brokerUser}="${password}";`;
  const listener = (name: string) => ({
    [`listener.name.${name}.sasl.enabled.mechanisms`]: 'PLAIN',
    [`listener.name.${name}.plain.sasl.jaas.config`]: login,
  });
  return {
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    ...listener('internal'),
    ...listener('controller'),
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

/** Brokers are ANONYMOUS on their plain listener. */
function authorizer(superUser: string): Record<string, string> {
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:ANONYMOUS;User:${superUser}`,
  };
}
