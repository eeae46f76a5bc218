/** Plants the bug named by an environment variable into the modules of this process. Loaded with `--import`. */
import { registerHooks } from 'node:module';
import { plant } from '@sluice/program/planted-bug';
import { plantedBugs } from './planted-bugs.ts';

const name = process.env.CONFORMANCE_PLANTED_BUG;
const bug = plantedBugs.find((one) => one.name === name);
if (bug === undefined) throw new Error(`no planted bug is named "${name}"`);
const url = new URL(`../../${bug.file}`, import.meta.url).href;

registerHooks({
  load(loaded, context, nextLoad) {
    const result = nextLoad(loaded, context);
    if (loaded !== url) return result;
    const { source } = result;
    if (source === undefined || source === null) throw new Error(`${loaded} has no source`);
    return { ...result, source: plant(bug, typeof source === 'string' ? source : new TextDecoder().decode(source)) };
  },
});
