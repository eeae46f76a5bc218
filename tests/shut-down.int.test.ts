import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceProcess } from '@sluice/conformance';
import { ApiServerHttp, FakeApiServer, FaultPlan, FaultyNetwork } from '@sluice/fake-apiserver';
import { kubeconfigText } from '@sluice/fleet/testing';
import { freePorts } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

let directory: string;
let faults: FaultPlan;
let server: FakeApiServer;
let http: ApiServerHttp;
let network: FaultyNetwork;
let sluice: SluiceProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-shut-down-'));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  faults = new FaultPlan();
  http = new ApiServerHttp({ server, clock: systemClock, faults });
  network = new FaultyNetwork(await http.listen());
  const url = `http://${await network.listen()}`;
  await writeFile(join(directory, 'one.yaml'), kubeconfigText({ server: url }));
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.create('services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
});

afterEach(async () => {
  await sluice?.kill();
  sluice = undefined;
  await network.refuse();
  await http.close();
  await rm(directory, { recursive: true, force: true });
});

/** Both ways to run: on one cluster and on a directory of clusters. */
const ways = [
  ['a cluster', () => join(directory, 'one.yaml')],
  ['the clusters of a directory', () => directory],
] as const;

async function start(kubeconfig: string, ...args: readonly string[]): Promise<SluiceProcess> {
  const run = new SluiceProcess(['--take-over', '--kubeconfig', kubeconfig, ...args]);
  sluice = run;
  await run.until(() => server.list('endpointslices').items.length > 0, 'the first write');
  return run;
}

describe.each(ways)('a run on %s exits on SIGTERM', (_, kubeconfig) => {
  test('with an open event stream of the page', async () => {
    const [port = 0] = await freePorts(1);
    const run = await start(kubeconfig(), '--metrics-bind-address', `127.0.0.1:${port}`);
    const stream = await fetch(`http://127.0.0.1:${port}/api/v1/stream`);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const read = stream.text().catch(() => 'cut');
    expect(await run.stop()).toBe(0);
    await read;
    expect(run.events('summary')).toHaveLength(1);
  });

  test('with an API server that drops all packets', async () => {
    const run = await start(kubeconfig());
    network.swallow();
    expect(await run.stop()).toBe(0);
    expect(run.stderr).not.toMatch(/shutdown timed out|open resources/);
  });

  test('with a write without response; a second signal exits immediately', async () => {
    faults.add({ verb: 'create', resource: 'endpointslices', latencyMs: 3_600_000 });
    const startHanging = async () => {
      const run = new SluiceProcess(['--take-over', '--kubeconfig', kubeconfig()]);
      sluice = run;
      const requests = vi.spyOn(faults, 'take').mockClear();
      await expect
        .poll(() => requests.mock.calls.map(([{ verb, resource }]) => `${verb} ${resource}`))
        .toContain('create endpointslices');
      return run;
    };
    const first = await startHanging();
    expect(await first.stop()).toBe(0);
    expect(first.events('summary')).toHaveLength(1);
    const second = await startHanging();
    const ended = second.stop();
    await second.until(() => second.stderr.includes('stopping;'), 'it has received the signal');
    expect([await second.stop(), await ended]).toEqual([143, 143]);
  });

  test('while connecting', async () => {
    network.swallow();
    const run = new SluiceProcess(['--kubeconfig', kubeconfig(), '--log-level', 'debug']);
    sluice = run;
    await expect.poll(() => network.connections).toBeGreaterThan(0);
    expect(await run.stop()).toBe(0);
  });
});
