import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The non-empty lines of a JSON Lines file, which may be compressed with gzip. */
export function readLines(path: string | URL): string[] {
  const content = readFileSync(path);
  const text = String(path).endsWith('.gz') ? gunzipSync(content) : content;
  return text
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}
