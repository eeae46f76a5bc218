import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandLine, commandLines, commandsOf } from './command-lines.ts';
import type { Page } from './markdown.ts';
import { text } from './source-values.ts';

const root = join(import.meta.dirname, '../..');

/** What a command of a page calls in the end: `npm start -- --distributed` calls `sluice run --distributed`. */
export interface Invocation extends CommandLine {
  /** `sluice`, a file of the repository, or a program of others: `kubectl`. */
  readonly program: string;
  readonly args: readonly string[];
}

/** The scripts of package.json. */
export const scripts: Readonly<Record<string, string>> = (
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly scripts: Readonly<Record<string, string>> }
).scripts;

const others = new Set(['docker', 'helm', 'kubectl', 'npm', 'npx']);
const folders = /^(?:\.ci|bench|bin|chaos|conformance|demo|fake-apiserver|infra|libs|services|tests)\//;

/** Every command of the pages that calls Sluice, a program of this repository, or a tool that reads its files. */
export function invocationsOf(pages: readonly Page[]): readonly Invocation[] {
  return pages
    .flatMap((page) => commandLines(page, isProgram))
    .flatMap((command) => {
      const called = calledBy(command.words);
      return called === undefined ? [] : [{ ...command, ...called }];
    });
}

const isSluice = (word: string): boolean => /^(?:(?:\S*\/)?bin\/)?sluice$/.test(word);
const isNode = (word: string): boolean => /^(?:\S*\/)?node$/.test(word);
const isProgram = (word: string): boolean => isSluice(word) || others.has(word) || isNode(word) || folders.test(word);

/** How the images start Sluice. */
const startOfSluice = new RegExp(
  ` -- (?:/sluice/infra/bundle/start node|node ${RegExp.escape(String(text('infra/release/program-files.ts', 'mainFile').value))}) (.*)$`,
);

type Called = Pick<Invocation, 'program' | 'args'>;

/** What the words call; undefined if they are only a name: `node`, `sluice`, `libs/bus`. */
export function calledBy(words: readonly string[]): Called | undefined {
  const [first = '', ...args] = words;
  if (isSluice(first)) return args.length === 0 ? undefined : { program: 'sluice', args };
  if (first === 'kubectl' && args[0] === 'sluice') return calledBy(args);
  const inPod = args.slice(args.indexOf('exec') + 1).join(' ');
  const [, ofSluice] = first === 'kubectl' ? (startOfSluice.exec(inPod) ?? []) : [];
  if (ofSluice !== undefined) return { program: 'sluice', args: ofSluice.split(' ') };
  if (first === 'npm') return calledByNpm(args) ?? { program: first, args };
  if (isNode(first)) {
    const file = args.findIndex((word) => !word.startsWith('-'));
    return file < 0 ? undefined : { program: args[file] ?? '', args: args.slice(file + 1) };
  }
  if (folders.test(first)) return args.length === 0 ? undefined : { program: first, args };
  return { program: first, args };
}

/** What a script of package.json calls; undefined if npm has no such script. */
function calledByNpm([verb = '', ...rest]: readonly string[]): Called | undefined {
  const [script = '', ...args] = verb === 'run' ? rest : [verb, ...rest];
  const command = commandsOf((scripts[script] ?? '').replace(/^exec /, '')).at(-1);
  return command && calledBy([...command, ...(args[0] === '--' ? args.slice(1) : args)]);
}
