import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { streamStart } from '@sluice/bus';
import type { JetStreamBusOptions } from '@sluice/bus-jetstream';
import { makeServingCertificate, type ServingCertificate } from '@sluice/local';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ids, records, take } from './bus-records.ts';
import { connectBus, type NatsForTests, natsForTests } from './jetstream-world.ts';
import { natsOperator } from './nats-jwt.ts';

/** Every way to show who one is and to be sure who the other is; and what is told when it fails. */

const root = mkdtempSync(join(tmpdir(), 'sluice-nats-security-'));
const read = (path: string) => readFileSync(path, 'utf8');
let ours: ServingCertificate;
let other: ServingCertificate;
const servers: NatsForTests[] = [];

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
  const server = await natsForTests({ configuration });
  servers.push(server);
  return { servers: [server.nats.url], partitions: 1 };
}

/** It is not waited for: what is wrong, a person has to mend. */
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

  test('that the server knows passes; another is refused, and not shown', async () => {
    const known = nkeys.createUser();
    const options = await serve(`authorization { users: [ { nkey: ${known.getPublicKey()} } ] }`);
    await expectToWork({ ...options, credentials: { nkeySeed: seed(known) } });
    const stranger = seed(nkeys.createUser());
    const refused = await refusal({ ...options, credentials: { nkeySeed: stranger } });
    expect(refused).toMatchObject(credentialsError);
    expect(String(refused)).not.toContain(stranger);
  });

  test('that is none is told as such, and not shown', async () => {
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
  test('of the server’s operator passes; of another it is refused, and not shown', async () => {
    const [operator, stranger] = [natsOperator(), natsOperator()];
    const options = await serve(operator.configuration);
    await expectToWork({ ...options, credentials: { creds: operator.creds } });
    const refused = await refusal({ ...options, credentials: { creds: stranger.creds } });
    expect(refused).toMatchObject(credentialsError);
    for (const line of stranger.creds.split('\n').filter((text) => text.length > 0)) {
      expect(String(refused)).not.toContain(line);
    }
  });

  test('that is none is told as such', async () => {
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

  test('with the authority of the server passes, with another or none it is refused at once', async () => {
    const options = await serve(tls());
    await expectToWork({ ...options, tls: { ca: read(ours.ca) } });
    for (const wrong of [{ ca: read(other.ca) }, {}]) {
      const refused = await refusal({ ...options, tls: wrong });
      expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('authority that is not trusted') });
      expect(String(refused)).toContain(options.servers[0]);
    }
  });

  test('that the server does not offer is not done without', async () => {
    const options = await serve('');
    const refused = await refusal({ ...options, tls: { ca: read(ours.ca) } });
    expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('does not offer TLS') });
  });

  test('with a client certificate: the right one passes, a missing or foreign one is refused at once', async () => {
    const options = await serve(tls(`, ca_file: "${ours.ca}", verify: true`));
    const ca = read(ours.ca);
    await expectToWork({ ...options, tls: { ca, cert: read(ours.certificate), key: read(ours.key) } });
    for (const wrong of [{ ca }, { ca, cert: read(other.certificate), key: read(other.key) }]) {
      const refused = await refusal({ ...options, tls: wrong });
      expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('refuses our certificate') });
    }
  });

  test('certificates that are none are told as such', async () => {
    const options = await serve(tls());
    const refused = await refusal({ ...options, tls: { ca: read(ours.ca), cert: 'nothing', key: 'nothing' } });
    expect(refused).toMatchObject({ ...tlsError, message: expect.stringContaining('PEM') });
  });
});

test('streams that are larger than what the server may store are refused at the start, with the reason', async () => {
  const options = await serve('jetstream: { max_file_store: 1MB }');
  const refused = await refusal(options);
  expect(refused).toMatchObject({ name: 'BusSetupError', code: 'BUS_STREAM_REFUSED' });
  expect(String(refused)).toMatch(/insufficient storage|resources/);
});
