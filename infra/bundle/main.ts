/** Usage: `node main.ts`. Bundles this checkout for `bin/sluice` and runs the bundle briefly to fill its code cache. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bundle } from './bundle.ts';

const root = join(import.meta.dirname, '..', '..');
await bundle({
  entry: join(root, 'services/sluice/src/main.ts'),
  workers: [join(root, 'libs/backends/src/lease-thread-worker.ts')],
  directory: join(root, '.cache/program'),
});

// The run caches the code of all functions it calls (ADR 0036), so it does what most starts do. The user's environment is
// left out because it may name a cluster.
const run = ['run', '--for', '1s', '--output', 'none', '--metrics-bind-address', '127.0.0.1:0'];
spawnSync(join(root, 'infra/bundle/start'), [process.execPath, ...run], {
  env: { PATH: process.env.PATH },
  stdio: 'ignore',
});
