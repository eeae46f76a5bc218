import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addCommands, commandNames } from './all.ts';

const namesOf = (program: Command) => program.commands.map((command) => command.name());

describe('the commands', () => {
  test('are called by the names under which they are loaded', async () => {
    const program = new Command();
    await addCommands(program, undefined);
    expect(namesOf(program)).toEqual(commandNames);
  });

  test('are loaded one by one', async () => {
    for (const name of commandNames) {
      const program = new Command();
      await addCommands(program, name);
      expect(namesOf(program)).toContain(name);
      expect(namesOf(program).length).toBeLessThan(commandNames.length);
    }
  });

  test('are all there for a name that is none of them', async () => {
    const program = new Command();
    await addCommands(program, '--help');
    expect(namesOf(program)).toEqual(commandNames);
  });
});
