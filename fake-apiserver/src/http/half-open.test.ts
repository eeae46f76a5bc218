import { anonymousAccess, Connection, HttpCluster, type RawObject, Reflector } from '@sluice/kubernetes';
import { type Clock, seededRandom, silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FaultyNetwork } from '../faults/faulty-network.ts';
import { FakeApiServer } from '../server/server.ts';
import { ApiServerHttp } from './api-server-http.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    // biome-ignore lint/plugin: the port of time
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
const random = seededRandom(1);

let server: FakeApiServer;
let network: FaultyNetwork;
let names: Set<string>;
let stop: () => Promise<void>;

beforeEach(async () => {
  server = new FakeApiServer({ clock, random, bookmarkIntervalMs: 200 });
  const http = new ApiServerHttp({ server, clock });
  network = new FaultyNetwork(await http.listen());
  const access = anonymousAccess(`http://${await network.listen()}`, 'test');
  const connection = new Connection({ access, userAgent: 'test', clock, logger: silentLogger });
  const name = (object: RawObject) => (object.metadata as { name: string }).name;
  names = new Set();
  const reflector = new Reflector<RawObject>({
    cluster: new HttpCluster({ connection, clock, random, watchIdleMs: 1_000 }),
    resource: 'pods',
    decode: (object) => object,
    sink: {
      replace: (objects) => {
        names = new Set(objects.map(name));
      },
      apply: (events) => {
        for (const event of events) if (event.type !== 'BOOKMARK') names.add(name(event.object));
      },
    },
    ...{ clock, random, logger: silentLogger },
  });
  const ending = new AbortController();
  const running = reflector.run(ending.signal);
  stop = async () => {
    ending.abort();
    await running;
    await connection.destroy();
    await network.refuse();
    await http.close();
  };
});

afterEach(() => stop());

const put = (name: string) => server.put('pods', { metadata: { name, namespace: 'shop' }, spec: {} });
const seen = (...wanted: readonly string[]) => expect.poll(() => [...names].sort()).toEqual(wanted);

test('missing bookmarks reveal a half-open connection', async () => {
  put('a');
  await seen('a');
  network.swallow();
  put('b');
  // The old connection stays open but dead; only missing bookmarks make the client open another.
  network.heal();
  await seen('a', 'b');
});
