import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Loads a module in a process that cannot load js-yaml. */
function load(file: string): Promise<unknown> {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name === 'js-yaml') throw new Error('js-yaml is loaded');
      return next(name, context);
    } });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(import.meta.dirname, file)];
  return promisify(execFile)(process.execPath, args);
}

test('options load without the YAML parser, which would delay each start', async () => {
  await expect(load('index.ts')).resolves.toBeDefined();
  await expect(load('load/index.ts')).rejects.toThrow('js-yaml is loaded');
});
