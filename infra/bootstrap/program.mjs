import { join } from 'node:path';
import { COMMANDS, ROOT, run, say } from './root.mjs';

const FOLDER = join(ROOT, 'infra', 'bundle');

/** Puts the program together for `bin/sluice`, unless that was done since its sources changed. It can do without. */
export async function putTogether() {
  const status = (file, args) => run(file, args).catch(() => 1);
  if ((await status('sh', [join(FOLDER, 'is-fresh')])) === 0) return;
  if ((await status(join(COMMANDS, 'node'), [join(FOLDER, 'main.ts')])) === 0) return;
  say('the program could not be put together; it starts from its sources, which takes longer');
}
