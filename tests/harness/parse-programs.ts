/**
 * Says for each command line on standard input, a JSON object with `file` and `args`, whether the development program accepts
 * it: an empty line, or the error. `--help` is added, so each program parses its options and does nothing.
 */
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

let output = '';
process.stdout.write = process.stderr.write = (text: unknown) => {
  output += String(text);
  return true;
};
process.setMaxListeners(0);
const answers: string[] = [];

for await (const line of createInterface({ input: process.stdin })) {
  const { file, args } = JSON.parse(line) as { readonly file: string; readonly args: readonly string[] };
  output = '';
  process.exitCode = 0;
  process.argv = [process.execPath, file, ...args, '--help'];
  // Another query has the program evaluated again; what it imports is shared.
  await import(`${pathToFileURL(file).href}?line=${answers.length}`);
  await new Promise(setImmediate);
  const error = process.exitCode === 0 && output.includes('usage:') ? '' : output || 'printed no usage';
  answers.push(error.replaceAll('\n', ' '));
}
process.exitCode = 0;
await import('node:fs').then(({ writeSync }) => writeSync(1, answers.map((answer) => `${answer}\n`).join('')));
