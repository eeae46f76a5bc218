import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, expect, test } from 'vitest';

const program = join(import.meta.dirname, '..', 'bin', 'sluice');
let directory: string;
let end: () => void;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-replaced-'));
  end = () => {};
});

afterEach(() => {
  end();
  rmSync(directory, { recursive: true, force: true });
});

function newCluster(seed: number) {
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  populate(server, { services: 5, podsPerService: 2, nodes: 2 });
  return { server, http: new ApiServerHttp({ server, clock: systemClock }) };
}

test('a process that serves one cluster ends when another answers at its address, and writes nothing to it', async () => {
  const [served, other] = [newCluster(1), newCluster(2)];
  const url = await served.http.listen();
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url, 'prod')));
  const child = spawn(program, ['run', '--take-over', '--kubeconfig', kubeconfig, '--metrics-bind-address', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  let log = '';
  child.stderr.on('data', (text) => {
    log += String(text);
  });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  end = () => child.kill('SIGKILL');
  await expect.poll(() => served.server.list('endpointslices').items.length).toBe(5);

  await served.http.close();
  await other.http.listen(Number(new URL(url).port));
  expect(await exited).toBe(1);
  expect(log).toContain('API server address now belongs to another cluster; stopping');
  expect(other.server.list('endpointslices').items).toEqual([]);
  expect(other.server.list('endpoints').items).toEqual([]);
  await other.http.close();
});
