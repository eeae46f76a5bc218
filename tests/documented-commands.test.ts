import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { allFlags, type CheckArguments, loadCommandLine } from '@sluice/sluice/testing';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { inlineCode } from '../infra/docs/command-lines.ts';
import { type Invocation, invocationsOf } from '../infra/docs/invocations.ts';
import { readNotes, readPages } from '../infra/docs/markdown.ts';

/** Every command in code blocks and inline code of the pages is accepted by the command line that it calls. */
const root = join(import.meta.dirname, '..');
const main = join(root, 'services/sluice/src/main.ts');
const pages = [...readPages(root), readNotes(root)];
const invocations = invocationsOf(pages);
const title = ({ path, line, words }: Invocation) => `${path}:${line} ${words.join(' ')}`;

/** Of tests that start processes, on a busy machine. */
const processes = 240_000;

let faultOf: CheckArguments;

beforeAll(async () => {
  faultOf = await loadCommandLine();
});

describe('sluice accepts', () => {
  it.each(invocations.filter(({ program }) => program === 'sluice').map((one) => [title(one), one.args] as const))(
    '%s',
    // A synopsis has `…` and options in brackets.
    (_, args) => expect(faultOf(args.filter((word) => !/^[…[]/.test(word)))).toBeUndefined(),
  );

  it('no other subcommands, flags, values and arguments', () => {
    expect(faultOf(['replay'])).toMatch(/^sluice has no command replay; it has run, /);
    expect(faultOf(['dead-letters', 'purge'])).toMatch(/^dead-letters has no command purge; it has list, /);
    expect(faultOf(['run', '--fast'])).toBe('run has no --fast');
    expect(faultOf(['run', '--for', '5x'])).toContain('--for');
    expect(faultOf(['run', '--output', 'xml'])).toContain('--output');
    expect(faultOf(['doctor', 'now'])).toBe('doctor takes 0 arguments, not now');
  });
});

test('the README begins with the commands that set everything up', () => {
  const [readme] = pages.filter(({ path }) => path === 'README.md');
  const first = readme?.text.slice(0, readme.text.indexOf('\n## ')) ?? '';
  expect(first.match(/^ {4}npm \w+/gm)?.map((line) => line.trim())).toEqual(['npm start', 'npm test']);
});

test('flags in inline code are those of sluice', async () => {
  const known = await allFlags();
  const flags = pages
    // Other pages are about development programs, or about the time of a decision.
    .filter(({ path }) => !/^(?:bench|chaos|conformance|docs\/(?:adr|contributing))\//.test(path))
    .flatMap(({ path, text }) => inlineCode(text).map((each) => ({ path, ...each })))
    .flatMap(({ path, line, code }) => {
      const [flag] = /^--?[a-z][a-z-]*/.exec(code) ?? [];
      return flag === undefined || /^-[a-z]/.test(flag) || ofOthers.has(flag) ? [] : [{ at: `${path}:${line}`, flag }];
    });
  expect(flags.length).toBeGreaterThan(60);
  expect(flags.filter(({ flag }) => !known.has(flag))).toEqual([]);
});

/** Flags of Node, Prometheus, k3s and development programs. */
const ofOthers = new Set([
  '--max-old-space-size',
  '--enable-feature',
  '--disable-cloud-controller',
  '--base-url',
  '--costs',
  '--events',
]);

const cheap = /^(?:capacity|completion|config --example)/;

test(
  'commands that need no cluster and no server run',
  () => {
    const lines = new Set(invocations.filter(({ program }) => program === 'sluice').map(({ args }) => args.join(' ')));
    const ran = [...lines].filter((line) => cheap.test(line)).map((line) => line.replace(/ \\$/, ''));
    expect(ran.length).toBeGreaterThanOrEqual(5);
    for (const line of ran) {
      const output = execFileSync(process.execPath, [main, ...line.split(' ')], { encoding: 'utf8' });
      expect(output.length, line).toBeGreaterThan(200);
    }
  },
  processes,
);

const files = /^(?:bench|chaos|conformance|infra\/release|tests)\/\S+\.ts$/;
const programs = invocations.filter(({ program, args }) => files.test(program) && args.length > 0);

test(
  'development programs accept the flags and values of all pages',
  () => {
    const lines = programs.map(({ program, args }) =>
      JSON.stringify({ file: join(root, program), args: args.map((word) => word.replaceAll(/^\[(?=-)|\]$/g, '')) }),
    );
    const answers = execFileSync(process.execPath, [join(root, 'tests/harness/parse-programs.ts')], {
      input: `${lines.join('\n')}\n{"file":"${join(root, 'bench/latency.ts')}","args":["--rounds","none"]}`,
      encoding: 'utf8',
    }).split('\n');
    const wrong = programs.flatMap((one, index) => (answers[index] === '' ? [] : [`${title(one)}: ${answers[index]}`]));
    expect(wrong).toEqual([]);
    expect(answers[programs.length]).toContain('--rounds: "none" is not a positive integer');
  },
  processes,
);

test('infra/local/cluster has the commands and flags of all pages', () => {
  const help = execFileSync(process.execPath, [join(root, 'infra/local/src/cli.ts'), '--help'], { encoding: 'utf8' });
  const words = invocations.filter(({ program }) => program === 'infra/local/cluster').flatMap(({ args }) => args);
  expect(words.length).toBeGreaterThan(0);
  for (const word of words.filter((each) => each !== '--help')) expect(help).toMatch(new RegExp(`^ +${word}\\b`, 'm'));
});

describe('no command is overlooked:', () => {
  const all = pages.map(({ text }) => text.replaceAll(/<!--.*?-->/g, '')).join('\n');
  const occurrences = (pattern: RegExp) => [...all.matchAll(pattern)].length;
  const checked = (pattern: RegExp) => invocations.filter(({ words }) => pattern.test(words.join(' '))).length;

  it.each([
    [/\bbin\/sluice [a-z-]/g, /\bbin\/sluice [a-z-]/],
    [/\bnpm run \S/g, /^npm run \S/],
    [/\bkubectl apply -/g, /^kubectl apply -/],
    [/\bhelm install /g, /^helm install /],
    [/\binfra\/local\/cluster [a-z]/g, /^infra\/local\/cluster [a-z]/],
    [/\bnode (?:bench|chaos|conformance)\//g, /\bnode (?:bench|chaos|conformance)\//],
  ])('the pages contain as many %s as are checked', (written, parsed) => {
    expect(checked(parsed)).toBe(occurrences(written));
    expect(checked(parsed)).toBeGreaterThan(0);
  });
});
