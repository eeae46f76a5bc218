import { UsageError } from '@sluice/process';
import type { Command } from 'commander';
import type { OpenInfrastructure } from '../../composition/roles/open-infrastructure.ts';
import { describeLetter, listLetters, toJsonLetter } from '../dead-letters/print.ts';
import { replayLetter } from '../dead-letters/replay.ts';
import { addConfiguredCommand, withFleet } from './configured-command.ts';

type Output = 'text' | 'json';

/** What is done with the fleet, and what is printed of it. */
type Action = (fleet: OpenInfrastructure, names: readonly string[], output: Output) => Promise<string>;

export function addDeadLettersCommand(program: Command): void {
  const group = program
    .command('dead-letters')
    .summary('look at records that nobody could make sense of, and deal with them')
    .description(
      'Records that could not be read are set aside with the reason, the oldest of a thousand going first. What they\n' +
        'were about was asked for again at once, so nothing waits for them.',
    );
  add(group, 'list', 'list them, oldest first', async ({ deadLetters }, _, output) => {
    const letters = await deadLetters.list();
    return output === 'json' ? letters.map(toJsonLetter).join('') : listLetters(letters);
  });
  add(group, 'show <name>', 'show one with all that is in it', async (fleet, names, output) => {
    const [letter] = await find(fleet, names);
    if (letter === undefined) return '';
    return output === 'json' ? toJsonLetter(letter) : describeLetter(letter);
  });
  add(group, 'replay <name...>', 'send them once more, say to a version that can read them', async (fleet, names) => {
    const letters = await find(fleet, names);
    for (const letter of letters) {
      await replayLetter(fleet.bus, letter);
      await fleet.deadLetters.drop(letter.name);
    }
    return letters.map(({ name }) => `${name} sent again\n`).join('');
  });
  add(group, 'drop <name...>', 'drop them for good', async (fleet, names) => {
    const letters = await find(fleet, names);
    for (const { name } of letters) await fleet.deadLetters.drop(name);
    return letters.map(({ name }) => `${name} dropped\n`).join('');
  });
}

function add(group: Command, usage: string, summary: string, action: Action): void {
  const form = { usage, summary, forms: ['text', 'json'] as const };
  addConfiguredCommand<{ output: Output }>(group, form, async ({ configure, args, options }) =>
    withFleet(await configure(), (fleet) => action(fleet, args, options.output)),
  );
}

async function find({ deadLetters }: OpenInfrastructure, names: readonly string[]) {
  const letters = await deadLetters.list();
  return names.map((name) => {
    const letter = letters.find((one) => one.name === name);
    if (letter === undefined) throw new UsageError(`no dead letter ${name}; "sluice dead-letters list" shows them`);
    return letter;
  });
}
