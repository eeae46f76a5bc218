/** Plants the bug in an environment variable into the modules of this process. Loaded as `planted` says. */
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type PlantedBug, plant, urlOf, variable } from './index.ts';

const bug = JSON.parse(process.env[variable] ?? '') as PlantedBug;
const url = urlOf(bug);

if (bug.file.endsWith('.lua')) {
  const { readFileSync } = fs;
  const paths: readonly unknown[] = [url, fileURLToPath(url)];
  fs.readFileSync = ((path: unknown, ...rest: unknown[]) => {
    const content = (readFileSync as (...args: unknown[]) => unknown)(path, ...rest);
    return paths.includes(String(path)) && typeof content === 'string' ? plant(bug, content) : content;
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
