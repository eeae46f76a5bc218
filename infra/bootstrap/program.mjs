import { join } from 'node:path';
import { COMMANDS, ROOT, run, say } from './root.mjs';

const FOLDER = join(ROOT, 'infra', 'bundle');

/** Builds the bundle for `bin/sluice` unless it is up to date. A failure is not fatal, because Sluice also runs from sources. */
export async function buildBundle() {
  const status = (file, args) => run(file, args).catch(() => 1);
  if ((await status('sh', [join(FOLDER, 'is-fresh')])) === 0) return;
  if ((await status(join(COMMANDS, 'node'), [join(FOLDER, 'main.ts')])) === 0) return;
  say('cannot build the bundle; Sluice runs from its sources, which start more slowly');
}
