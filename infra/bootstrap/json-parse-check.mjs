/**
 * Checks whether `JSON.parse` corrupts memory when it rejects a deeply nested text, as that of Node 26 does (ADR 0001). Needs no package.
 *
 *   json-parse-check.mjs [--expect-crash] [NODE...]
 *
 * NODE is a file; by default, the Node that runs this script. Ends with status 1 if a Node crashes or reads other values; with
 * `--expect-crash`, if a Node does not. Nothing is random: each Node parses the same texts.
 */
import { spawnSync } from 'node:child_process';

/**
 * Runs in the Node that is checked. V8 has two parsers. The recursive one reads texts without a reviver until the stack is full, at about
 * 7,000 levels. The other one reads what lies deeper, and texts with a reviver of three parameters. It opens a HandleScope for each
 * level; these texts fill several blocks of 1,022 handles. The parser of `outer` holds handles meanwhile.
 */
const program = `
const open = '{"a":1,"b":', outer = '{"a":[1,{"b":2}],"c":"d"}';
const ends = ['', 'x', '{', '{1', '{"a', '{"a"1', '{"a":1 1', '{"a":1,1', '[', '[x', '[1', '[1 1', '"a', '1x', 'tru'];
for (const [levels, reviver] of [[12000, undefined], [2000, (key, value, context) => value]]) {
  for (const end of ends) {
    fs.writeSync(1, levels + ' levels of ' + open + ', then ' + (end || 'nothing') + '\\n');
    const text = open.repeat(levels) + end;
    const read = JSON.parse(outer, (key, value) => {
      try {
        JSON.parse(text, reviver);
        throw new Error('accepts the text');
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
      gc();
      return value;
    });
    if (JSON.stringify(read) !== outer) throw new Error('reads other values afterwards');
  }
}`;

function output(node, ...args) {
  const result = spawnSync(node, args, { encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** Why the Node fails; undefined if it does not. */
function problemOf(node) {
  const { signal, status, stderr, stdout } = output(node, '--expose-gc', '-e', program);
  if (status === 0) return undefined;
  const reason = signal ?? /^Error: (.*)/m.exec(stderr)?.[1] ?? `status ${status}`;
  return `${reason} at ${stdout.trim().split('\n').at(-1)}`;
}

const args = process.argv.slice(2);
const expectCrash = args[0] === '--expect-crash';
const given = expectCrash ? args.slice(1) : args;
const nodes = given.length > 0 ? given : [process.execPath];
let failed = 0;
for (const node of nodes) {
  const version = output(node, '-p', 'process.version + ", V8 " + process.versions.v8').stdout.trim();
  const problem = problemOf(node);
  if ((problem !== undefined) !== expectCrash) failed++;
  process.stdout.write(`Node ${version}: ${problem ?? 'rejects every text'}\n`);
}
process.stdout.write(`${nodes.length - failed} passed, ${failed} failed, 0 skipped\n`);
if (failed > 0) process.exitCode = 1;
