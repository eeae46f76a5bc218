import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** V8 reports a flag that it does not know, and ignores it. `npm run bench:clusters` measures how much this one saves. */
test('V8 knows the flag that counts buffers as part of the heap', async () => {
  const file = join(import.meta.dirname, 'v8-heap.ts');
  const program = `const { countBuffersAsHeap } = await import(process.argv[1]); countBuffersAsHeap();`;
  const run = (text: string) => promisify(execFile)(process.execPath, ['--input-type=module', '-e', text, file]);
  expect(await run(program)).toEqual({ stdout: '', stderr: '' });
  const { stderr } = await run(`(await import('node:v8')).setFlagsFromString('--no-such-flag');`);
  expect(stderr).toContain('unrecognized flag');
});
