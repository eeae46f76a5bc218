/** Usage: `node main.ts`. Bundles this checkout for `bin/sluice` and runs the bundle briefly to fill its code cache. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { bundle, workerSources } from './bundle.ts';

const root = join(import.meta.dirname, '..', '..');
await bundle({
  entry: join(root, 'services/sluice/src/main.ts'),
  workers: workerSources.map((path) => join(root, path)),
  directory: join(root, '.cache/program'),
});

// The run caches the code of all functions it calls (ADR 0001), so it does what most starts do: it connects to a cluster
// and writes. The user's environment is left out because it may name another one.
const server = new FakeApiServer({ clock, random: seededRandom(1) });
populate(server, { services: 20, podsPerService: 5, now: clock.now() });
const http = new ApiServerHttp({ server, clock });
const directory = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
try {
  const kubeconfig = join(directory, 'kubeconfig.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const run = ['run', '--for', '1s', '--output', 'none', '--metrics-bind-address', '127.0.0.1:0'];
  const args = [process.execPath, ...run, '--kubeconfig', kubeconfig];
  await new Promise((resolve) =>
    execFile(join(root, 'infra/bundle/start'), args, { env: { PATH: process.env.PATH } }, resolve),
  );
} finally {
  await http.close();
  rmSync(directory, { recursive: true });
}
