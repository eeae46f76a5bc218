/** Plants the bug named by an environment variable into the modules of this process. Loaded with `--import`. */
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { plant } from '@sluice/program/planted-bug';
import { plantedBugs, urlOf } from './planted-bugs.ts';

const bug = plantedBugs.find(({ name }) => name === process.env.SIMULATION_PLANTED_BUG);
if (bug === undefined) throw new Error(`no planted bug is named "${process.env.SIMULATION_PLANTED_BUG}"`);
const url = urlOf(bug);

if (bug.file.endsWith('.lua')) {
  const { readFileSync } = fs;
  fs.readFileSync = ((path: unknown, ...rest: unknown[]) => {
    const content = (readFileSync as (...args: unknown[]) => unknown)(path, ...rest);
    return String(path) === url && typeof content === 'string' ? plant(bug, content) : content;
  }) as typeof readFileSync;
  syncBuiltinESMExports();
}

registerHooks({
  load(loaded, context, nextLoad) {
    const result = nextLoad(loaded, context);
    if (loaded !== url) return result;
    const { source } = result;
    if (source === undefined || source === null) throw new Error(`${loaded} has no source`);
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    return { ...result, source: plant(bug, text) };
  },
});
