import { Command } from 'commander';
import { beforeAll, expect, test } from 'vitest';
import { addCommands } from './commands/all.ts';
import { helpWidth, subcommandTerm } from './help.ts';

let help: string;

beforeAll(async () => {
  const program = new Command('sluice').configureHelp({ helpWidth: helpWidth(undefined), subcommandTerm });
  await addCommands(program, undefined);
  help = program.helpInformation();
});

test('the help lists subcommands and arguments, within 100 columns', () => {
  expect(help).toMatch(/^ {2}clusters list\|show\|accept {2,}/m);
  expect(help).toMatch(/^ {2}explain <.*service> {2,}/m);
  for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test.each([
  [undefined, 100],
  [200, 100],
  [80, 80],
  [30, 60],
])('%s columns: %i', (columns, width) => {
  expect(helpWidth(columns)).toBe(width);
});
