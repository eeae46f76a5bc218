import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamStart, type Topic } from '@sluice/bus';
import { connectKafkaBus, defaultKafkaTopics, type KafkaBusOptions } from '@sluice/bus/kafka';
import { type Kafka, makeServingCertificate, type ServingCertificate, startKafka } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { recordingLogger } from '@sluice/platform/testing';
import kafkajs, { type AclEntry } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ids, records, take } from './bus-records.ts';

/** TLS, SCRAM and ACLs on a real broker, and the errors when one fails. */

const directory = mkdtempSync(join(tmpdir(), 'sluice-kafka-security-'));
const roles = ['watcher', 'reconciler', 'writer', 'console'] as const;
type User = 'admin' | 'stranger' | (typeof roles)[number];
const password = (user: User) => `the-password-of-${user}`;
const read = (path: string) => readFileSync(path, 'utf8');
let kafka: Kafka;
let mutual: Kafka;
let other: ServingCertificate;

beforeAll(async () => {
  const users = Object.fromEntries((['admin', 'stranger', ...roles] as const).map((user) => [user, password(user)]));
  [kafka, mutual, other] = await Promise.all([
    startKafka({ directory: join(directory, 'scram'), tls: true, users, superUser: 'admin' }),
    startKafka({ directory: join(directory, 'mutual'), tls: 'mutual' }),
    makeServingCertificate(made(join(directory, 'other')), 'other'),
  ]);
});

afterAll(async () => {
  await Promise.all([kafka, mutual].map((broker) => broker?.process.kill()));
  rmSync(directory, { recursive: true, force: true });
});

function made(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}

const ca = ({ certificate }: Kafka) => read(certificate?.ca ?? '');

let fleets = 0;
const newFleet = () => `fleet-${++fleets}`;

function optionsOf(broker: Kafka, fleet = newFleet()): KafkaBusOptions {
  return {
    ...defaultKafkaTopics,
    brokers: [broker.broker],
    clientId: 'conformance',
    fleet,
    partitions: 1,
    replicationFactor: 1,
    minInsyncReplicas: 1,
    tls: { ca: ca(broker) },
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  };
}

function as(user: User, fleet?: string): KafkaBusOptions {
  return {
    ...optionsOf(kafka, fleet),
    sasl: { mechanism: 'scram-sha-512', username: user, password: password(user) },
  };
}

const refusal = (options: KafkaBusOptions): Promise<unknown> =>
  connectKafkaBus({ ...options, connectWithinMs: 600_000 }).catch((error: unknown) => error);

async function expectToWork(options: KafkaBusOptions): Promise<void> {
  const bus = await connectKafkaBus(options);
  await bus.append('changes', 0, records('a', 1, 3));
  expect(ids(await take(bus.read('changes', 0, streamStart), 3))).toEqual(['a1', 'a2', 'a3']);
  await bus.close();
}

describe('SCRAM over TLS', () => {
  test('accepts the right password; a wrong one is rejected immediately without revealing it', async () => {
    await expectToWork(as('admin'));
    const log = recordingLogger();
    const sasl = { mechanism: 'scram-sha-512', username: 'admin', password: 'a-wrong-one' } as const;
    const refused = await refusal({ ...as('admin'), sasl, logger: log });
    expect(refused).toMatchObject({
      code: 'BUS_CREDENTIALS',
      message: expect.stringContaining('the user name or password'),
    });
    expect(`${refused} ${JSON.stringify(log.lines)}`).not.toContain('a-wrong-one');
  });

  test('immediately rejects a mechanism that the broker does not support', async () => {
    const sasl = { mechanism: 'plain', username: 'admin', password: password('admin') } as const;
    const refused = await refusal({ ...as('admin'), sasl });
    expect(refused).toMatchObject({
      code: 'BUS_CREDENTIALS',
      message: expect.stringContaining('does not support this SASL mechanism'),
    });
  });
});

describe('TLS', () => {
  const tlsError = (text: string) => ({ code: 'BUS_TLS', message: expect.stringContaining(text) });

  test('immediately rejects another authority or none', async () => {
    for (const tls of [{ ca: read(other.ca) }, {}]) {
      expect(await refusal({ ...as('admin'), tls })).toMatchObject(tlsError('authority that is not trusted'));
    }
  });

  test('immediately rejects a certificate for another name', async () => {
    const tls = { ca: ca(kafka), servername: 'kafka.example.com' };
    expect(await refusal({ ...as('admin'), tls })).toMatchObject(tlsError('is for another name'));
    await expectToWork({ ...as('admin'), tls: { ca: ca(kafka), servername: 'localhost' } });
  });

  test('accepts the right client certificate, and immediately rejects a missing or foreign one', async () => {
    const options = optionsOf(mutual);
    const { certificate = other } = mutual;
    const own = { cert: read(certificate.certificate), key: read(certificate.key) };
    await expectToWork({ ...options, tls: { ca: ca(mutual), ...own } });
    const foreign = { cert: read(other.certificate), key: read(other.key) };
    for (const wrong of [{}, foreign]) {
      const tls = { ca: ca(mutual), ...wrong };
      expect(await refusal({ ...options, tls })).toMatchObject(tlsError('rejected the client certificate'));
    }
  });

  test('rejects invalid certificates before connecting', async () => {
    const tls = { ca: ca(kafka), cert: 'nothing', key: 'nothing' };
    expect(await refusal({ ...as('admin'), tls })).toMatchObject(tlsError('not in PEM format'));
  });
});

describe('rights', () => {
  const topics = ['changes', 'mutations', 'requests'] as const satisfies readonly Topic[];

  test('of docs/guides/kafka.md suffice for each role and permit it no other write; a user without them gets an error that names them', async () => {
    const fleet = newFleet();
    const guide = read(new URL('../docs/guides/kafka.md', import.meta.url).pathname);
    await grant(roles.flatMap((role) => aclsOf(guide, fleet, role)));
    const [watcher, reconciler, writer, console] = await Promise.all(
      roles.map((role) => connectKafkaBus(as(role, fleet))),
    );
    await watcher?.append('changes', 0, records('w', 1, 1));
    await reconciler?.append('mutations', 0, records('m', 1, 1));
    await reconciler?.append('requests', 0, records('r', 1, 1));
    await writer?.append('changes', 0, records('o', 1, 1));
    for (const bus of [watcher, reconciler, writer, console]) {
      expect(await bus?.beginning('requests', 0)).toMatchObject({ offset: 0, streamId: expect.stringMatching(/./) });
    }
    const first = async (bus: typeof watcher, topic: Topic, count = 1) =>
      bus && ids(await take(bus.read(topic, 0, streamStart), count));
    expect(await first(watcher, 'requests')).toEqual(['r1']);
    expect(await first(reconciler, 'changes', 2)).toEqual(['w1', 'o1']);
    expect(await first(writer, 'mutations')).toEqual(['m1']);
    for (const topic of topics) expect(await first(console, topic)).toHaveLength(1);
    const appended = (bus: typeof watcher, topic: Topic): Promise<string> | undefined =>
      bus?.append(topic, 0, records('x', 1, 1)).then(
        () => 'done',
        (error: unknown) => String(error),
      );
    const mayNot: readonly [typeof watcher, readonly Topic[]][] = [
      [watcher, ['mutations', 'requests']],
      [reconciler, ['changes']],
      [writer, ['mutations', 'requests']],
      [console, topics],
    ];
    for (const [bus, forbidden] of mayNot)
      for (const topic of forbidden)
        expect(await appended(bus, topic)).toContain('not authorized to write to this topic');
    for (const bus of [watcher, reconciler, writer, console]) await bus?.close();

    expect(await refusal(as('stranger', fleet))).toMatchObject({
      code: 'BUS_TOPIC_REFUSED',
      message: expect.stringContaining('Create, Describe and DescribeConfigs'),
    });
  });

  test('revoked from a running process are named in the errors of its appends until they are granted again', async () => {
    const fleet = newFleet();
    const write = allow('writer', `${fleet}.`, 'WRITE');
    await grant([write, allow('writer', `${fleet}.`, 'DESCRIBE_CONFIGS'), allow('writer', `${fleet}.`, 'CREATE')]);
    const bus = await connectKafkaBus(as('writer', fleet));
    await bus.append('changes', 0, records('a', 1, 1));
    await withAdmin((admin) => admin.deleteAcls({ filters: [write] }));
    const append = (): Promise<string> =>
      bus.append('changes', 0, records('a', 2, 2)).then(
        () => 'done',
        (error: unknown) => String(error),
      );
    await expect.poll(append).toContain('not authorized to write to this topic');
    await grant([write]);
    await expect.poll(append).toBe('done');
    await bus.close();
    const admin = await connectKafkaBus(as('admin', fleet));
    expect(new Set(ids(await take(admin.read('changes', 0, streamStart), 2)))).toEqual(new Set(['a1', 'a2']));
    await admin.close();
  });
});

/** The operations on each topic and on all three, from the row of the table. */
function aclsOf(guide: string, fleet: string, role: (typeof roles)[number]): readonly AclEntry[] {
  const row = new RegExp(`^\\| ${role} +\\|(.*)\\|(.*)\\|(.*)\\|(.*)\\|$`, 'm').exec(guide);
  if (row === null) throw new Error(`docs/guides/kafka.md has no row for ${role}`);
  const targets = [`${fleet}.changes`, `${fleet}.mutations`, `${fleet}.requests`, `${fleet}.`];
  return targets.flatMap((target, column) =>
    (row[column + 1] ?? '')
      .split(',')
      .map((operation) => operation.trim())
      .filter((operation) => operation !== '')
      .map((operation) => allow(role, target, operation.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase())),
  );
}

function allow(user: User, prefix: string, operation: string): AclEntry {
  const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
  return {
    resourceType: AclResourceTypes.TOPIC,
    resourceName: prefix,
    resourcePatternType: ResourcePatternTypes.PREFIXED,
    principal: `User:${user}`,
    host: '*',
    operation: AclOperationTypes[operation as keyof typeof AclOperationTypes],
    permissionType: AclPermissionTypes.ALLOW,
  };
}

function grant(acl: readonly AclEntry[]): Promise<unknown> {
  return withAdmin((admin) => admin.createAcls({ acl: [...acl] }));
}

async function withAdmin<T>(use: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  const sasl = { mechanism: 'scram-sha-512', username: 'admin', password: password('admin') } as const;
  const ssl = { ca: ca(kafka) };
  const client = new kafkajs.Kafka({ brokers: [kafka.broker], sasl, ssl, logLevel: kafkajs.logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}
