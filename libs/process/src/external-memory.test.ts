import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Counts the major collections of a process with a heap of some 40 MB that allocates 1 GB of buffers, 20 MB of them at a time. */
const program = `
const { PerformanceObserver } = require('node:perf_hooks');
let major = 0;
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) if (detail.kind !== 1) major += 1;
}).observe({ entryTypes: ['gc'] });
const heap = Array.from({ length: 300_000 }, (_, n) => ({ n, text: 'n' + n }));
(async () => {
  const { countBuffersAsHeap } = await import(process.argv[1]);
  if (process.argv[2] === 'counted') countBuffersAsHeap();
  let buffers = [];
  for (let n = 0; n < 100_000; n++) {
    if (buffers.length === 2_000) buffers = [];
    buffers.push(Buffer.allocUnsafeSlow(10_000));
    if (n % 1_000 === 0) await new Promise(setImmediate);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (heap.length > 0) process.stdout.write(String(major));
})();`;

async function majorCollections(...args: string[]): Promise<number> {
  const file = join(import.meta.dirname, 'external-memory.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program, file, ...args]);
  return Number(stdout);
}

test('buffers lead to few collections of the whole heap', async () => {
  const [counted, uncounted] = [await majorCollections('counted'), await majorCollections()];
  expect(counted).toBeLessThan(uncounted / 3);
});
