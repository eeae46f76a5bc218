import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { addCommands } from './commands/all.ts';

/** The commands in the code blocks of the documentation exist, and so do their flags. */
const root = join(import.meta.dirname, '../../../..');
const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts as Readonly<
  Record<string, string>
>;
const pages = [...globSync('docs/**/*.md', { cwd: root }), 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** Lines of code blocks, without prompt and comment; lines that end with a backslash continue. */
function codeLines(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```|(?:^ {4}.*\n)+/gm)].map(([block]) => block);
  return blocks
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^\$ /, '')
        .replace(/\s+#.*$/, ''),
    );
}

const linesOf = (pattern: RegExp) =>
  pages.flatMap((page) =>
    codeLines(readFileSync(join(root, page), 'utf8'))
      .filter((line) => pattern.test(line))
      .map((line) => [page, line] as const),
  );

const words = (line: string) =>
  line
    .split(/[|<>&;]/)[0]
    ?.trim()
    .split(/\s+/) ?? [];

let program: Command;

beforeAll(async () => {
  program = new Command('sluice').option('--version').helpOption('-h, --help');
  await addCommands(program, undefined);
});

/** The called command, and what follows its name. */
function called(args: readonly string[], command: Command = program): readonly [Command, readonly string[]] {
  const [name = '', ...rest] = args;
  const found = command.commands.find((each) => each.name() === name || each.aliases().includes(name));
  return found === undefined ? [command, args] : called(rest, found);
}

describe('sluice', () => {
  const lines = linesOf(/^(bin\/|kubectl )?sluice [a-z-]/).filter(([, line]) => !/^sluice_/.test(line));

  test('is in many pages', () => expect(lines.length).toBeGreaterThan(40));

  it.each(lines)('%s: %s', (_, line) => {
    const [command, rest] = called(words(line.replace(/^kubectl /, '')).slice(1));
    // `sluice --version`, or a subcommand.
    if (command === program) expect(rest[0]).toMatch(/^--(version|help)$/);
    const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short]);
    const flags = rest.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*$/, ''));
    for (const flag of flags) expect([...known, '--help'], `${command.name()} has no ${flag}`).toContain(flag);
    const required = command.registeredArguments.filter(({ required }) => required).length;
    const given = rest.filter((word) => !word.startsWith('-')).length;
    expect(given, `${command.name()} needs ${required} arguments`).toBeGreaterThanOrEqual(required);
  });
});

describe('npm', () => {
  it.each(linesOf(/^npm (run|test|start)/))('%s: %s', (_, line) => {
    const [, verb = '', script = ''] = words(line);
    expect(Object.keys(scripts)).toContain(verb === 'run' ? script : verb);
  });
});
