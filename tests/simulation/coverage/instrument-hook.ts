/** Records which branches of production code this process reaches. Loaded with `--import`. */
import { registerHooks } from 'node:module';
import { instrument } from './reachable.ts';
import { recordReached } from './reached.ts';

recordReached();

const isProduction = (url: string) => /\/(?:libs|services)\/[^/]+\/src\//.test(url);

registerHooks({
  load(url, context, nextLoad) {
    const result = nextLoad(url, context);
    const { source } = result;
    if (!isProduction(url) || source === undefined || source === null) return result;
    return { ...result, source: instrument(typeof source === 'string' ? source : new TextDecoder().decode(source)) };
  },
});
