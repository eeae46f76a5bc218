import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamStart } from '@sluice/bus';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import {
  ensureKafkaJars,
  freePorts,
  LocalError,
  makeServingCertificate,
  type RedisServer,
  runProgram,
  type ServingCertificate,
  startKafka,
  startNats,
  startRedis,
} from '@sluice/local';
import { seededRandom, sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { recordingLogger } from '@sluice/platform/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/** Certificates and SASL passwords of the bus are rotated under a running process: real servers, secrets in files. */
const root = mkdtempSync(join(tmpdir(), 'sluice-bus-rotation-'));
const cleanups: (() => Promise<unknown>)[] = [];
let redis: RedisServer;
const log = recordingLogger();
const isKafkaUnavailable = () => log.messages('warn').includes('Kafka unavailable; retrying');

beforeAll(async () => {
  redis = await startRedis({ directory: join(root, 'redis') });
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

afterAll(async () => {
  await redis?.stop();
  rmSync(root, { recursive: true, force: true });
});

function made(name: string): string {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** The files of one fleet, as a mounted Secret holds them. */
function filesOf(name: string) {
  const directory = made(name);
  return {
    directory,
    setPassword: (password: string) => writeFileSync(join(directory, 'password'), `${password}\n`),
    setAuthority: ({ ca }: ServingCertificate) => copyFileSync(ca, join(directory, 'ca')),
    setClientCertificate({ certificate, key }: ServingCertificate): void {
      copyFileSync(certificate, join(directory, 'cert'));
      copyFileSync(key, join(directory, 'key'));
    },
  };
}

/** A running process of a fleet, whose configuration names the files of `directory`. */
async function connect(directory: string, servers: string): Promise<OpenInfrastructure> {
  const names = new Set(readdirSync(directory));
  const tls = Object.fromEntries(
    ['ca', 'cert', 'key'].flatMap((name) => (names.has(name) ? [[`${name}File`, name]] : [])),
  );
  const user = names.has('password') ? { username: 'sluice', passwordFile: 'password' } : {};
  const bus = { servers: [servers], replicas: 1, tls, ...user };
  const file = join(directory, 'sluice.json');
  const fleet = directory.slice(root.length + 1);
  writeFileSync(file, JSON.stringify({ fleet, partitions: 1, bus, store: { url: [redis.url] } }));
  const reread = () => loadConfiguration({ file, environment: {}, flags: {} });
  const ports = { clock: systemClock, random: seededRandom(1), logger: log };
  const infrastructure = await openInfrastructure(reread(), { ...ports, reread });
  cleanups.push(() => infrastructure.close());
  return infrastructure;
}

const record = (id: string) => ({ key: 'resync', id, headers: {}, payload: new Uint8Array([1]) });

/** What became of an append that nobody waits for: servers reject the connection until the secrets are rotated. */
function append({ bus }: OpenInfrastructure, id: string): { readonly state: () => string } {
  let state = 'pending';
  const repeat = (): Promise<void> =>
    bus.append('requests', 0, [record(id)]).then(
      () => {
        state = 'appended';
      },
      // biome-ignore lint/plugin: paces the repetitions
      () => sleep(systemClock, 200).then(repeat),
    );
  void repeat();
  return { state: () => state };
}

interface Rotation {
  readonly server: () => Promise<void>;
  /** Whether the process has noticed. */
  readonly refuses: () => boolean;
  readonly files: () => void;
}

/** Appends before the rotation, not between the rotation of server and files, and again afterwards. */
async function expectRotation(fleet: OpenInfrastructure, { server, refuses, files }: Rotation): Promise<void> {
  await fleet.bus.append('requests', 0, [record('before')]);
  const read = readIds(fleet);
  await expect.poll(() => read.has('before')).toBe(true);
  await server();
  const after = append(fleet, 'after');
  // The process tries the previous secrets until the files change.
  await expect.poll(refuses).toBe(true);
  expect(after.state()).toBe('pending');
  files();
  await expect.poll(after.state).toBe('appended');
  await expect.poll(() => read.has('after')).toBe(true);
}

/** The ids that a reader opened now has read, which reconnects by itself too. */
function readIds({ bus }: OpenInfrastructure): ReadonlySet<string> {
  const read = new Set<string>();
  const reader = bus.read('requests', 0, streamStart);
  cleanups.push(async () => reader.close());
  void (async () => {
    for (;;) {
      const records = await reader.next(10);
      if (records.length === 0) return;
      for (const { id } of records) read.add(id);
    }
  })();
  return read;
}

test('NATS: certificate authority and client certificate', async () => {
  const [port = 0] = await freePorts(1);
  const files = filesOf('nats');
  const serve = async (name: string) => {
    const certificate = await makeServingCertificate(made(`nats-${name}`), 'nats');
    const { ca, certificate: cert, key } = certificate;
    const configuration = `tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${ca}", verify: true, timeout: 5 }`;
    const server = await startNats({ directory: join(root, 'nats-server'), port, configuration });
    cleanups.push(() => server.stop());
    return { server, certificate };
  };
  const first = await serve('first');
  files.setAuthority(first.certificate);
  files.setClientCertificate(first.certificate);
  const fleet = await connect(files.directory, first.server.url.replace('nats:', 'tls:'));
  let second = first;
  await expectRotation(fleet, {
    server: async () => {
      await first.server.stop();
      second = await serve('second');
    },
    refuses: () => readFileSync(second.server.process.command.log, 'utf8').includes('TLS handshake error'),
    files: () => {
      files.setAuthority(second.certificate);
      files.setClientCertificate(second.certificate);
    },
  });
});

test('Kafka: certificate authority and client certificate', async () => {
  const files = filesOf('kafka-certificates');
  const directory = join(root, 'kafka-mutual');
  const kafka = await startKafka({ directory, tls: 'mutual' });
  cleanups.push(() => kafka.process.kill());
  let { certificate } = kafka;
  const install = () => {
    if (certificate === undefined) throw new Error('no certificate');
    files.setAuthority(certificate);
    files.setClientCertificate(certificate);
  };
  install();
  const fleet = await connect(files.directory, `kafka://${kafka.broker}`);
  await expectRotation(fleet, {
    server: async () => {
      await kafka.process.kill();
      certificate = await makeServingCertificate(directory, 'kafka');
      const keystore = [certificate.key, certificate.certificate].map((file) => readFileSync(file, 'utf8'));
      writeFileSync(join(directory, 'keystore.pem'), keystore.join(''));
      await kafka.process.start();
      await kafka.ready();
    },
    refuses: isKafkaUnavailable,
    files: install,
  });
});

/** Longer than the ten seconds before its end in which the client renews a session; Kafka permits that once per second. */
const sessionMs = 12_000;

test('Kafka: SASL password of a user, on a broker that keeps running and ends old sessions', async () => {
  const files = filesOf('kafka-password');
  const kafka = await startKafka({
    directory: join(root, 'kafka-scram'),
    tls: true,
    users: { admin: 'admin', sluice: 'first' },
    superUser: 'admin',
    properties: {
      'super.users': 'User:ANONYMOUS;User:admin;User:sluice',
      'listener.name.clients.scram-sha-512.connections.max.reauth.ms': String(sessionMs),
    },
  });
  cleanups.push(() => kafka.process.kill());
  const { certificate } = kafka;
  if (certificate === undefined) throw new Error('no certificate');
  files.setAuthority(certificate);
  files.setPassword('first');
  const fleet = await connect(files.directory, `kafka://${kafka.broker}`);
  await expectRotation(fleet, {
    server: async () => {
      await setKafkaPassword(kafka.broker, certificate, { user: 'sluice', password: 'second' });
      // biome-ignore lint/plugin: longer than a session lasts, so that each connection must authenticate again
      await sleep(systemClock, sessionMs * 1.5);
    },
    refuses: isKafkaUnavailable,
    files: () => files.setPassword('second'),
  });
});

/** As kafka-configs.sh does it. */
async function setKafkaPassword(
  broker: string,
  { ca }: ServingCertificate,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<void> {
  const module = 'org.apache.kafka.common.security.scram.ScramLoginModule required';
  const admin = join(made('kafka-admin'), 'admin.properties');
  const properties = [
    'security.protocol=SASL_SSL',
    'sasl.mechanism=SCRAM-SHA-512',
    `sasl.jaas.config=${module} username="admin" password="admin";`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${ca}`,
  ];
  writeFileSync(admin, `${properties.join('\n')}\n`);
  const jars = join(await ensureKafkaJars(), '*');
  const target = ['--bootstrap-server', broker, '--command-config', admin, '--entity-type', 'users'];
  const change = ['--entity-name', user, '--alter', '--add-config', `SCRAM-SHA-512=[password=${password}]`];
  const { status, output } = await runProgram(
    'java',
    ['-cp', jars, 'kafka.admin.ConfigCommand', ...target, ...change],
    () => new LocalError('java-missing', 'cannot run java'),
  );
  expect({ status, output }).toMatchObject({ status: 0 });
}
