import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { resolve } from '@sluice/fleet/configuration/testing';
import { kubeconfigText } from '@sluice/fleet/testing';
import { freePorts, makeServingCertificate } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { createLogger, systemClock } from '@sluice/platform/process';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { addClustersCommand } from './clusters.ts';
import { runAllInOne } from './run-all-in-one.ts';

let directory: string;
let closers: (() => Promise<unknown>)[];
/** Of the last command. */
let exitStatus: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-clusters-'));
  closers = [() => rm(directory, { recursive: true, force: true })];
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).reverse()) await close();
});

/** Serves a fake cluster on loopback. */
async function cluster(seed: number) {
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  const http = new ApiServerHttp({ server, clock: systemClock });
  const url = await http.listen();
  closers.push(() => http.close());
  return { server, url };
}

type Answering = (path: string) => readonly [status: number, body: object];

/** Serves a fixed response on loopback; returns its URL. */
async function answering(answer: Answering, tls?: { readonly cert: Buffer; readonly key: Buffer }): Promise<string> {
  const listener: RequestListener = (request, response) => {
    const [status, body] = answer(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const http = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

const file = (name: string) => join(directory, name);
const name = (as: string, url: string) => writeFile(file(as), kubeconfigText({ server: url }));

async function clusters(...args: readonly string[]): Promise<string> {
  const program = new Command('sluice').exitOverride();
  addClustersCommand(program);
  let out = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  await program.parseAsync(['clusters', ...args], { from: 'user' }).finally(() => write.mockRestore());
  exitStatus = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return out;
}

const lines = (text: string) => text.trimEnd().split('\n');

describe('clusters of a directory', () => {
  test('each is listed with its state, or with what is wrong', async () => {
    const { server, url } = await cluster(1);
    await name('good.yaml', url);
    await name('same.yaml', url);
    await writeFile(file('notes.txt'), 'Ask Ann.');
    const listed = lines(await clusters('list', '--kubeconfig', directory));
    expect(listed[0]).toMatch(/^NAME +STATE +VERSION +IDENTITY +SERVER +REASON$/);
    expect(listed).toHaveLength(4);
    expect(listed.filter((line) => / usable .*127\.0\.0\.1/.test(line) && line.includes(server.identity))).toHaveLength(
      1,
    );
    expect(listed.filter((line) => / rejected .*same cluster as (good|same)/.test(line))).toHaveLength(1);
    expect(listed.find((line) => line.startsWith('notes'))).toMatch(/ rejected .*not a kubeconfig/);
    expect(exitStatus).toBe(1);
  });

  test('exit status 0 means that all can be served', async () => {
    const { url } = await cluster(1);
    await name('good.yaml', url);
    expect(lines(await clusters('list', '--kubeconfig', directory))).toHaveLength(2);
    expect(exitStatus).toBe(0);
  });

  test('each unusable one is listed with the reason', async () => {
    const { url } = await cluster(1);
    await name('good.yaml', url);
    await name('down.yaml', 'http://127.0.0.1:1');
    const status = (code: number, reason: string) => ({ kind: 'Status', code, reason, message: reason });
    await name('expired.yaml', await answering(() => [401, status(401, 'Unauthorized')]));
    const old = { major: '1', minor: '20', gitVersion: 'v1.20.15' };
    await name(
      'old.yaml',
      await answering((path) => (path === '/version' ? [200, old] : [404, status(404, 'NotFound')])),
    );
    const current = { ...old, minor: '36', gitVersion: 'v1.36.3' };
    const forbidding = (path: string) => (path === '/version' ? current : { status: { allowed: false } });
    await name('forbids.yaml', await answering((path) => [200, forbidding(path)]));
    await name('busy.yaml', await answering(() => [429, status(429, 'TooManyRequests')]));
    const elsewhere = await mkdtemp(join(tmpdir(), 'sluice-clusters-'));
    closers.push(() => rm(elsewhere, { recursive: true, force: true }));
    const files = await makeServingCertificate(elsewhere, 'stranger');
    const tls = { cert: readFileSync(files.certificate), key: readFileSync(files.key) };
    await name('stranger.yaml', await answering(() => [200, current], tls));
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sluice-no-such-plugin',
      interactiveMode: 'Never',
    };
    await writeFile(file('plugin.yaml'), kubeconfigText({ server: url, user: { exec } }));
    const states = lines(await clusters('list', '--kubeconfig', directory, '--output', 'json')).map((line) =>
      JSON.parse(line),
    );
    const told = Object.fromEntries(states.map((state) => [state.name, `${state.phase}: ${state.reason}`]));
    expect(told).toMatchObject({
      good: 'serving: ',
      down: expect.stringMatching(/^unavailable: .*refused.*check that the API server is running/),
      expired: expect.stringMatching(/^unavailable: .*rejected the token or client certificate: log in again/),
      old: expect.stringMatching(/^unavailable: .*v1\.20\.15, which has no discovery\.k8s\.io\/v1; upgrade/),
      forbids: expect.stringMatching(/^unavailable: .*does not allow: .*ClusterRole/),
      busy: expect.stringMatching(/^unavailable: .*TooManyRequests/),
      stranger: expect.stringMatching(/^unavailable: .*cannot trust .*certificate-authority/),
      plugin: expect.stringMatching(/^unavailable: .*no credential for context.*sluice-no-such-plugin/),
    });
  });

  test('show prints one, also as JSON; an unknown name is a usage error', async () => {
    const { server, url } = await cluster(1);
    await name('good.yaml', url);
    expect(await clusters('show', 'good', '--kubeconfig', directory)).toContain(`Identity:  ${server.identity}\n`);
    const json = await clusters('show', 'good', '--kubeconfig', directory, '--output', 'json');
    expect(JSON.parse(json)).toMatchObject({ name: 'good', phase: 'serving', identity: server.identity });
    await expect(clusters('show', 'bad', '--kubeconfig', directory)).rejects.toThrow('cluster bad not found');
  });
});

describe('clusters of Secrets', () => {
  async function management(status: number, items: readonly object[]): Promise<readonly string[]> {
    const answer = status === 200 ? { items } : { kind: 'Status', message: 'not for you', code: status };
    await name('management', await answering(() => [status, answer]));
    return ['--cluster-secrets', 'sluice.io/cluster', '--cluster-secrets-kubeconfig', file('management')];
  }

  const secret = (as: string, text: string) => ({
    ...{ metadata: { name: as } },
    data: { kubeconfig: Buffer.from(text).toString('base64') },
  });

  test('each is listed; one with an exec plugin or without TLS is rejected', async () => {
    const { url } = await cluster(1);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: [file('was-run')] };
    const flags = await management(200, [
      secret('plain', kubeconfigText({ server: url })),
      secret('plugin', kubeconfigText({ server: url, user: { exec } })),
    ]);
    const states = lines(await clusters('list', ...flags, '--output', 'json')).map((line) => JSON.parse(line));
    expect(states.map((state) => [state.name, state.phase])).toEqual([
      ['plain', 'unavailable'],
      ['plugin', 'unavailable'],
    ]);
    expect(states[0].reason).toContain('is not an https URL');
    expect(states[1].reason).toContain('names an exec plugin');
  });

  test('a forbidden list of Secrets is reported', async () => {
    const flags = await management(403, []);
    await expect(clusters('list', ...flags)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(
        /^cannot read Secrets in namespace sluice with labels sluice.io\/cluster: .*not for you/,
      ),
    });
  });
});

describe('sluice run on several clusters', () => {
  async function withService(seed: number) {
    const made = await cluster(seed);
    made.server.create('namespaces', { metadata: { name: 'shop' } });
    made.server.create('services', {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    return made;
  }

  /** Runs them until `check` passes. */
  async function whileRunning(settings: object, check: () => void | Promise<void>) {
    const stop = Promise.withResolvers<void>();
    const { configuration } = resolve({ file: JSON.stringify({ ...settings, writer: { takeOver: true } }) });
    const run = { configuration, output: 'none', console: true, shadowGracePeriod: 0 } as const;
    const running = runAllInOne(stop.promise, run, createLogger('text', 'error'));
    try {
      await expect.poll(check).toBeUndefined();
    } finally {
      stop.resolve();
      await running;
    }
  }

  test('serves all clusters of a directory; one that is down delays no other', async () => {
    const [one, two] = [await withService(1), await withService(2)];
    await name('one.yaml', one.url);
    await name('two.yaml', two.url);
    await name('down.yaml', 'http://127.0.0.1:1');
    await whileRunning({ clusters: [{ kubeconfig: directory }], metricsBindAddress: 0 }, () => {
      for (const { server } of [one, two]) expect(server.list('endpointslices').items).toHaveLength(1);
    });
  });

  test('serves the clusters of a configuration, each with its state, readiness and metrics', async () => {
    const [one, two] = [await withService(1), await withService(2)];
    await name('one.yaml', one.url);
    await name('two.yaml', two.url);
    await name('down.yaml', 'http://127.0.0.1:1');
    const clusters = ['one', 'two', 'down'].map((as) => ({ name: as, kubeconfig: file(`${as}.yaml`) }));
    const [port = 0] = await freePorts(1);
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    await whileRunning({ clusters, metricsBindAddress: `127.0.0.1:${port}` }, async () => {
      for (const { server } of [one, two]) expect(server.list('endpointslices').items).toHaveLength(1);
      const ready = await get('/readyz?verbose');
      expect(ready.status).toBe(200);
      for (const as of ['one', 'two', 'down']) expect(ready.text).toContain(`[+]caches/${as} ok`);
      const metrics = (await get('/metrics')).text;
      expect(metrics).toMatch(/^sluice_cluster_phase\{[^}]*cluster="one"[^}]*phase="serving"[^}]*\} 1$/m);
      expect(metrics).toMatch(/^sluice_cluster_phase\{[^}]*cluster="down"[^}]*phase="unavailable"[^}]*\} 1$/m);
      const { clusters: shown } = JSON.parse((await get('/api/v1/overview')).text);
      expect(shown).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: 'one', identity: one.server.identity, state: 'watched', services: 1 }),
          expect.objectContaining({ name: 'two', identity: two.server.identity, state: 'watched', services: 1 }),
        ]),
      );
    });
  });
});
