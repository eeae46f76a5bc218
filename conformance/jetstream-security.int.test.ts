import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { streamStart } from '@sluice/bus';
import type { JetStreamBusOptions } from '@sluice/bus/jetstream';
import { makeServingCertificate, type ServingCertificate } from '@sluice/local';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ids, records, take } from './bus-records.ts';
import { connectBus, type NatsFixture, startNatsFixture } from './jetstream-fixture.ts';
import { natsOperator } from './nats-jwt.ts';

/** All ways to authenticate to NATS, and the errors when one fails. */

const root = mkdtempSync(join(tmpdir(), 'sluice-nats-security-'));
const read = (path: string) => readFileSync(path, 'utf8');
let ours: ServingCertificate;
let other: ServingCertificate;
const servers: NatsFixture[] = [];

beforeAll(async () => {
  [ours, other] = [await certificate('ours'), await certificate('other')];
});

afterAll(async () => {
  for (const server of servers) await server.stop();
  rmSync(root, { recursive: true, force: true });
});

function certificate(name: string): Promise<ServingCertificate> {
  mkdirSync(join(root, name));
  return makeServingCertificate(join(root, name), name);
}

async function serve(configuration: string): Promise<JetStreamBusOptions> {
  const server = await startNatsFixture({ configuration });
  servers.push(server);
  return { servers: [server.nats.url], partitions: 1 };
}

/** Fails immediately despite the long timeout, because only a person can fix the cause. */
function refusal(options: JetStreamBusOptions): Promise<unknown> {
  return connectBus({ ...options, connectWithinMs: 600_000 }).catch((error: unknown) => error);
}

async function expectToWork(options: JetStreamBusOptions): Promise<void> {
  const bus = await connectBus(options);
  await bus.append('changes', 0, records('a', 1, 3));
  expect(ids(await take(bus.read('changes', 0, streamStart), 3))).toEqual(['a1', 'a2', 'a3']);
  await bus.close();
}

const credentialsError = { name: 'BusSetupError', code: 'BUS_CREDENTIALS' };
const tlsError = { name: 'BusSetupError', code: 'BUS_TLS' };

describe('an nkey', () => {
  const seed = (pair: ReturnType<typeof nkeys.createUser>) => new TextDecoder().decode(pair.getSeed());

  test('known to the server is accepted; another is rejected without revealing it', async () => {
    const known = nkeys.createUser();
    const options = await serve(`authorization { users: [ { nkey: ${known.getPublicKey()} } ] }`);
    await expectToWork({ ...options, credentials: { nkeySeed: seed(known) } });
    const stranger = seed(nkeys.createUser());
    const refused = await refusal({ ...options, credentials: { nkeySeed: stranger } });
    expect(refused).toMatchObject(credentialsError);
    expect(String(refused)).not.toContain(stranger);
  });

  test('with an invalid seed is rejected as such without revealing it', async () => {
    const options = { servers: ['nats://127.0.0.1:1'], partitions: 1 };
    for (const nkeySeed of ['SUNOT-A-SEED', seed(nkeys.createUser()).replace('SU', 'SA')]) {
      const refused = await refusal({ ...options, credentials: { nkeySeed } });
      expect(refused).toMatchObject({
        ...credentialsError,
        message: expect.stringContaining('not the seed of a user nkey'),
      });
      expect(String(refused)).not.toContain(nkeySeed);
    }
  });
});

describe('a creds file', () => {
  test('of the server’s operator is accepted; one of another operator is rejected without revealing it', async () => {
    const [operator, stranger] = [natsOperator(), natsOperator()];
    const options = await serve(operator.configuration);
    await expectToWork({ ...options, credentials: { creds: operator.creds } });
    const refused = await refusal({ ...options, credentials: { creds: stranger.creds } });
    expect(refused).toMatchObject(credentialsError);
    for (const line of stranger.creds.split('\n').filter((text) => text.length > 0)) {
      expect(String(refused)).not.toContain(line);
    }
  });

  test('with invalid content is rejected as such', async () => {
    const refused = await refusal({
      servers: ['nats://127.0.0.1:1'],
      partitions: 1,
      credentials: { creds: 'nothing' },
    });
    expect(refused).toMatchObject({ ...credentialsError, message: expect.stringContaining('not a creds file') });
  });
});

describe('TLS', () => {
  const tls = (extra = '') => `tls { cert_file: "${ours.certificate}", key_file: "${ours.key}" ${extra} }`;

  test('accepts the authority of the server, and immediately rejects another or none', async () => {
    const options = await serve(tls());
    await expectToWork({ ...options, tls: { ca: read(ours.ca) } });
    for (const wrong of [{ ca: read(other.ca) }, {}]) {
      const refused = await refusal({ ...options, tls: wrong });
      expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('authority that is not trusted') });
      expect(String(refused)).toContain(options.servers[0]);
    }
  });

  test('expects a certificate for the IP address by which a server is addressed, not for localhost', async () => {
    const script = join(import.meta.dirname, '../infra/kubernetes/make-certificates.sh');
    const made = join(root, 'identities');
    execFileSync('sh', [script, made, 'address=127.0.0.1', 'name=localhost'], { stdio: 'ignore' });
    const material = { ca: read(join(made, 'ca.crt')) };
    const servedWith = (name: string) =>
      serve(`tls { cert_file: "${join(made, `${name}.crt`)}", key_file: "${join(made, `${name}.key`)}" }`);
    const byName = ({ servers: [server = ''] }: JetStreamBusOptions) => [server.replace('127.0.0.1', 'localhost')];
    const [address, name] = [await servedWith('address'), await servedWith('name')];
    await expectToWork({ ...address, tls: material });
    await expectToWork({ ...name, servers: byName(name), tls: material });
    for (const options of [name, { ...address, servers: byName(address) }]) {
      const refused = await refusal({ ...options, tls: material });
      expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('another name') });
    }
  });

  test('fails if the server does not offer it', async () => {
    const options = await serve('');
    const refused = await refusal({ ...options, tls: { ca: read(ours.ca) } });
    expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('does not offer TLS') });
  });

  test('accepts the right client certificate, and immediately rejects a missing or foreign one', async () => {
    const options = await serve(tls(`, ca_file: "${ours.ca}", verify: true`));
    const ca = read(ours.ca);
    await expectToWork({ ...options, tls: { ca, cert: read(ours.certificate), key: read(ours.key) } });
    for (const wrong of [{ ca }, { ca, cert: read(other.certificate), key: read(other.key) }]) {
      const refused = await refusal({ ...options, tls: wrong });
      expect(refused).toMatchObject({
        ...tlsError,
        message: expect.stringContaining('rejected the client certificate'),
      });
    }
  });

  test('rejects invalid certificates as such', async () => {
    const options = await serve(tls());
    const refused = await refusal({ ...options, tls: { ca: read(ours.ca), cert: 'nothing', key: 'nothing' } });
    expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('PEM') });
  });
});

test('rejects streams larger than the storage of the server at startup, with the reason', async () => {
  const options = await serve('jetstream: { max_file_store: 1MB }');
  const refused = await refusal(options);
  expect(refused).toMatchObject({ name: 'BusSetupError', code: 'BUS_STREAM_REFUSED' });
  expect(String(refused)).toMatch(/insufficient storage|resources/);
});
