import { execFileSync } from 'node:child_process';
import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { type Bus, streamStart } from '@sluice/bus';
import { silentLogger } from '@sluice/platform';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ids, records, take } from './bus-records.ts';
import { connectBus, type NatsFixture, startNatsFixture } from './jetstream-fixture.ts';

/** What a compromised role can do with its NATS user, against a real server. */

const script = new URL('../infra/images/nats-users.sh', import.meta.url).pathname;
const roles = ['watcher', 'reconciler', 'writer', 'console', 'worker'] as const;
type Role = (typeof roles)[number];

const usersOfRoles = execFileSync(script, ['sluice', '2'], {
  encoding: 'utf8',
  env: Object.fromEntries([
    ['PATH', process.env.PATH],
    ...roles.map((role) => [`${role.toUpperCase()}_PASSWORD`, `password-of-${role}`]),
  ]),
});

const credentials = (role: Role) => ({ user: `sluice-${role}`, password: `password-of-${role}` });

let fixture: NatsFixture;
const buses: Partial<Record<Role, Bus>> = {};

function bus(role: Role): Bus {
  const found = buses[role];
  if (found === undefined) throw new Error(`no bus of the ${role}`);
  return found;
}

const warnings: string[] = [];
const note = (message: string) => warnings.push(message);

async function withConnection<T>(role: Role, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const { user, password } = credentials(role);
  const inboxPrefix = `_INBOX_${user}`;
  const nc = await connect({ servers: fixture.nats.url, user, pass: password, inboxPrefix });
  try {
    return await work(nc);
  } finally {
    await nc.close();
  }
}

describe('with the users of infra/images/nats-users.sh', () => {
  beforeAll(async () => {
    fixture = await startNatsFixture({ configuration: usersOfRoles });
    // The watcher starts first: it waits until the reconciler, which may, has created the streams.
    await Promise.all(
      roles.map(async (role) => {
        const options = { servers: [fixture.nats.url], partitions: 2, credentials: credentials(role) };
        buses[role] = await connectBus(options, { ...silentLogger, warn: note, error: note });
      }),
    );
    // Roles that may not create streams tried it.
    warnings.length = 0;
  });

  afterAll(async () => {
    for (const role of roles) await buses[role]?.close();
    await fixture?.stop();
  });

  test('each role can do its work', async () => {
    await bus('watcher').append('changes', 1, records('c', 1, 2));
    expect(ids(await take(bus('reconciler').read('changes', 1, streamStart), 2))).toEqual(['c1', 'c2']);
    await bus('reconciler').append('mutations', 1, records('m', 1, 1));
    await bus('reconciler').append('requests', 0, records('r', 1, 1));
    expect(ids(await take(bus('writer').read('mutations', 1, streamStart), 1))).toEqual(['m1']);
    await bus('writer').append('changes', 1, records('o', 1, 1));
    expect(ids(await take(bus('watcher').read('requests', 0, streamStart), 1))).toEqual(['r1']);
    for (const topic of ['changes', 'mutations'] as const) {
      const end = await bus('console').end(topic, 1);
      expect(await bus('console').beginning(topic, 1)).toMatchObject({ offset: 0 });
      expect(end.id).toBe(topic === 'changes' ? 'o1' : 'm1');
    }
    for (const role of roles) {
      expect((await bus(role).end('requests', 0)).id).toBe('r1');
      expect(await bus(role).beginning('requests', 0)).toMatchObject({
        offset: 0,
        streamId: expect.stringMatching(/./),
      });
    }
    expect(warnings).toEqual([]);
  });

  test('a worker can do the work of watcher, reconciler and writer', async () => {
    const worker = bus('worker');
    for (const topic of ['changes', 'mutations', 'requests'] as const) {
      const partition = topic === 'requests' ? 0 : 1;
      const { offset } = await worker.end(topic, partition);
      await worker.append(topic, partition, records(`w-${topic}`, 1, 2));
      const read = await take(worker.read(topic, partition, streamStart), offset + 2);
      expect(ids(read).slice(offset)).toEqual([`w-${topic}1`, `w-${topic}2`]);
    }
    expect(warnings).toEqual([]);
  });

  test.each<[Role, readonly string[]]>([
    ['watcher', ['sluice.mutations.0', 'sluice.requests.0']],
    ['writer', ['sluice.mutations.0', 'sluice.requests.0']],
    ['console', ['sluice.changes.0', 'sluice.mutations.0', 'sluice.requests.0']],
    ['reconciler', ['sluice.changes.0']],
  ])('%s cannot publish to the topics of others', async (role, subjects) => {
    await withConnection(role, async (nc) => {
      for (const subject of subjects) {
        await expect(nc.request(subject, 'x', { timeout: 2000 })).rejects.toThrow(/[Pp]ermissions? [Vv]iolation/);
      }
    });
  });

  test('a watcher cannot read or redirect changes and mutations', async () => {
    await withConnection('watcher', async (nc) => {
      const jsm = await jetstreamManager(nc, { checkAPI: false });
      for (const stream of ['sluice-changes-0', 'sluice-mutations-0']) {
        await expect(jsm.consumers.add(stream, redirect('sluice.mutations.0'))).rejects.toThrow();
        await expect(jsm.streams.getMessage(stream, { seq: 1 })).rejects.toThrow();
      }
      await expect(jsm.streams.add({ name: 'other', subjects: ['other'] })).rejects.toThrow();
      await expect(jsm.streams.purge('sluice-mutations-0')).rejects.toThrow();
    });
  });

  test('no role can read what another receives', async () => {
    const denied: unknown[] = [];
    await withConnection('watcher', async (nc) => {
      nc.subscribe('_INBOX_sluice-writer.>', { callback: (error) => void denied.push(error) });
      await nc.flush();
      await expect.poll(() => denied).toHaveLength(1);
    });
    expect(String(denied[0])).toMatch(/[Pp]ermissions? [Vv]iolation/);
  });

  test('what a watcher has the server send to mutations never becomes a plan', async () => {
    await bus('reconciler').append('requests', 0, records('x', 1, 1));
    await withConnection('watcher', async (nc) => {
      const jsm = await jetstreamManager(nc, { checkAPI: false });
      await jsm.consumers.add('sluice-requests-0', redirect('sluice.mutations.0'));
      // The reply to a request, too, is stored wherever the reply subject leads.
      nc.publish('$JS.API.STREAM.INFO.sluice-changes-0', undefined, { reply: 'sluice.mutations.0' });
      await nc.flush();
    });
    await expect.poll(async () => (await bus('writer').end('mutations', 0)).offset).toBeGreaterThanOrEqual(2);
    await bus('reconciler').append('mutations', 0, records('plan', 1, 1));
    const read = await take(bus('writer').read('mutations', 0, streamStart), 2);
    // The server's reply has the right subject, but no key, id or plan: the writer dead-letters it.
    expect(read.map(({ key, id }) => [key, id])).toEqual([
      ['', ''],
      ['plan', 'plan1'],
    ]);
    expect(warnings).toContain('skipping record published to another subject');
  });
});

describe('with one user for all roles', () => {
  let server: NatsFixture;
  let shared: Bus;

  beforeAll(async () => {
    server = await startNatsFixture();
    shared = await connectBus({ servers: [server.nats.url], partitions: 2 });
  });

  afterAll(async () => {
    await shared?.close();
    await server?.stop();
  });

  test.each(['push', 'pull'])(
    'a record of changes redirected to mutations by a %s consumer is skipped',
    async (kind) => {
      const partition = kind === 'push' ? 0 : 1;
      const [changes, mutations] = [`sluice-changes-${partition}`, `sluice.mutations.${partition}`];
      const nc = await connect({ servers: server.nats.url });
      const jsm = await jetstreamManager(nc);
      const forged = headers();
      forged.set('Nats-Msg-Id', 'forged');
      forged.set('Sluice-Key', 'c/shop/cart');
      await nc.request(`sluice.changes.${partition}`, 'a forged plan', { headers: forged, timeout: 5000 });
      if (kind === 'push') await jsm.consumers.add(changes, redirect(mutations));
      else {
        const { name } = await jsm.consumers.add(changes, { ...redirect(undefined), name: 'pull' });
        nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${changes}.${name}`, undefined, { reply: mutations });
      }
      await expect.poll(() => lastOffset(jsm, `sluice-mutations-${partition}`)).toBe(1);
      expect(await shared.end('mutations', partition)).toMatchObject({ offset: 1, id: '' });
      await shared.append('mutations', partition, records('plan', 1, 1));
      const [first] = await take(shared.read('mutations', partition, streamStart), 1);
      expect(first).toMatchObject({ id: 'plan1', offset: 2 });
      const end = await shared.end('mutations', partition);
      await shared.append('mutations', partition, records('plan', 2, 2));
      expect(ids(await take(shared.read('mutations', partition, end), 1))).toEqual(['plan2']);
      await nc.close();
    },
  );
});

async function lastOffset(jsm: Awaited<ReturnType<typeof jetstreamManager>>, stream: string): Promise<number> {
  return (await jsm.streams.info(stream)).state.last_seq;
}

/** A consumer that delivers all records of its stream to a subject. */
function redirect(subject: string | undefined) {
  return {
    name: 'redirect',
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
    ...(subject !== undefined && { deliver_subject: subject }),
  };
}
