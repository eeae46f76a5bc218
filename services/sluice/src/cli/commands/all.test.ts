import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addCommands, commandNames } from './all.ts';

const namesOf = (program: Command) => program.commands.map((command) => command.name());

describe('commands', () => {
  test('are registered under the names by which they are loaded', async () => {
    const program = new Command();
    await addCommands(program, undefined);
    expect(namesOf(program)).toEqual(commandNames);
  });

  test('are loaded one at a time', async () => {
    for (const name of commandNames) {
      const program = new Command();
      await addCommands(program, name);
      expect(namesOf(program)).toContain(name);
      expect(namesOf(program).length).toBeLessThan(commandNames.length);
    }
  });

  test('are all registered for an unknown name', async () => {
    const program = new Command();
    await addCommands(program, '--help');
    expect(namesOf(program)).toEqual(commandNames);
  });
});
