import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Lines of a JSON Lines file, which may be packed with gzip; empty ones left out. */
export function readLines(path: string | URL): string[] {
  const content = readFileSync(path);
  const text = String(path).endsWith('.gz') ? gunzipSync(content) : content;
  return text
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}
