/** Reads the list in a gzip file many times, with garbage collections in between. Arguments: the file. Needs `--expose-gc`. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { decodeList } from '@sluice/kubernetes/testing';

const input = gunzipSync(readFileSync(process.argv[2] ?? ''));
let rejected = 0;
for (let i = 0; i < 60; i++) {
  try {
    await decodeList('services', whole(), () => {});
  } catch {
    rejected++;
  }
  globalThis.gc?.();
}
process.stdout.write(`rejected ${rejected} times\n`);

async function* whole() {
  yield input;
}
