import { Command } from 'commander';
import { beforeAll, expect, test } from 'vitest';
import { addCommands } from './commands/all.ts';
import { helpStyle, helpWidth } from './help.ts';

let program: Command;

beforeAll(async () => {
  program = new Command('sluice').configureHelp(helpStyle(undefined));
  await addCommands(program, undefined);
});

test('the help lists subcommands and arguments', () => {
  const help = program.helpInformation();
  expect(help).toMatch(/^ {2}clusters list\|show\|accept\|forget {2,}/m);
  expect(help).toMatch(/^ {2}explain <.*service> {2,}/m);
});

test.each([60, 80, 100])('the help of every command fits into %i columns', async (columns) => {
  const narrow = new Command('sluice').configureHelp(helpStyle(columns));
  await addCommands(narrow, undefined);
  for (const command of [narrow, ...withSubcommands(narrow.commands)])
    for (const line of command.helpInformation().split('\n'))
      expect(line.length, `${command.name()}: ${line}`).toBeLessThanOrEqual(columns);
});

const withSubcommands = (commands: readonly Command[]): readonly Command[] =>
  commands.flatMap((command) => [command, ...withSubcommands(command.commands)]);

test.each([
  [undefined, 100],
  [200, 100],
  [80, 80],
  [30, 60],
])('%s columns: %i', (columns, width) => {
  expect(helpWidth(columns)).toBe(width);
});
