/** Puts the program of this checkout together, where `bin/sluice` looks for it, and runs it for a moment: `main.ts`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bundle } from './bundle.ts';

const root = join(import.meta.dirname, '..', '..');
await bundle({ entry: join(root, 'services/sluice/src/main.ts'), directory: join(root, '.cache/program') });

// At its end it keeps the code of all that was called (ADR 0043), so it is to be what most starts are. Without any
// environment of the user's, which may name a cluster.
const run = ['run', '--for', '1s', '--output', 'none', '--metrics-bind-address', '127.0.0.1:0'];
spawnSync(join(root, 'infra/bundle/start'), [process.execPath, ...run], {
  env: { PATH: process.env.PATH },
  stdio: 'ignore',
});
