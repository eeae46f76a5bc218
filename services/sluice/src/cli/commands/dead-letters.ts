import { deadLetterJson, describeDeadLetter, listDeadLetters } from '@sluice/console/terminal';
import type { OpenInfrastructure } from '@sluice/fleet/roles';
import { columnsOf, systemClock, UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { replayDeadLetter } from '../../composition/operator-requests.ts';
import { addConfiguredCommand, withFleet } from './configured-command.ts';

interface Options {
  readonly output: 'text' | 'json';
  readonly dryRun?: boolean;
}

/** Runs on the fleet and returns what to print. */
type Action = (fleet: OpenInfrastructure, names: readonly string[], options: Options) => Promise<string>;

export function addDeadLettersCommand(program: Command): void {
  const group = program
    .command('dead-letters')
    .summary('list, replay or drop records that cannot be decoded or applied')
    .description(
      'A record that cannot be decoded or applied is dead-lettered with the reason; the latest thousand are kept.\n' +
        'A resync of its Service is requested at once, so nothing waits for it.',
    );
  add(group, 'list', 'list dead letters, oldest first', async (fleet, _, { output }) => {
    const letters = await fleet.deadLetters.list();
    return output === 'json' ? letters.map(deadLetterJson).join('') : listDeadLetters(letters, await formatFor(fleet));
  });
  add(group, 'show <name>', 'show one in full', async (fleet, names, { output }) => {
    const [letter] = await find(fleet, names);
    if (letter === undefined) return '';
    return output === 'json' ? deadLetterJson(letter) : describeDeadLetter(letter, await formatFor(fleet));
  });
  add(
    group,
    'replay <name...>',
    'publish them again, e.g. for a version that can decode them',
    async (fleet, names, { dryRun }) => {
      const letters = await find(fleet, names);
      if (dryRun) return letters.map(({ name }) => `${name} would be replayed\n`).join('');
      for (const letter of letters) {
        await replayDeadLetter(fleet.bus, letter);
        await fleet.deadLetters.drop(letter.name);
      }
      return letters.map(({ name }) => `${name} replayed\n`).join('');
    },
  ).option('--dry-run', 'only show what would be replayed');
  add(group, 'drop <name...>', 'delete them', async (fleet, names, { dryRun }) => {
    const letters = await find(fleet, names);
    if (dryRun) return letters.map(({ name }) => `${name} would be dropped\n`).join('');
    for (const { name } of letters) await fleet.deadLetters.drop(name);
    return letters.map(({ name }) => `${name} dropped\n`).join('');
  }).option('--dry-run', 'only show what would be dropped');
}

function add(group: Command, usage: string, summary: string, action: Action): Command {
  const form = { usage, summary, formats: ['text', 'json'] as const };
  return addConfiguredCommand<Options>(group, form, async ({ configure, args, options }) =>
    withFleet(await configure(), (fleet) => action(fleet, args, options)),
  );
}

async function formatFor({ directory }: OpenInfrastructure) {
  const names = new Map((await directory.list()).map(({ identity, name }) => [identity, name]));
  return { width: columnsOf(process.stdout), now: systemClock.now(), names };
}

async function find({ deadLetters }: OpenInfrastructure, names: readonly string[]) {
  const letters = await deadLetters.list();
  return names.map((name) => {
    const letter = letters.find((one) => one.name === name);
    if (letter === undefined) throw new UsageError(`dead letter ${name} not found; run "sluice dead-letters list"`);
    return letter;
  });
}
