import { type Command, Option } from 'commander';
import { addConfigurationOptions, configurationOf } from '../configuration/configuration-options.ts';
import { describeLetter, listLetters, toJsonLetter } from '../dead-letters/print.ts';
import { replayLetter } from '../dead-letters/replay.ts';
import { type OpenInfrastructure, openInfrastructure } from '../roles/open-infrastructure.ts';
import { systemClock } from '../system/clock.ts';
import { createLogger } from '../system/logger.ts';
import { systemRandom } from '../system/random.ts';
import { UsageError } from '../terminal/usage-error.ts';

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
  const command = group
    .command(usage)
    .summary(summary)
    .description(summary)
    .addOption(new Option('-o, --output <format>', 'form').choices(['text', 'json']).default('text'));
  addConfigurationOptions(command).action(async () => {
    const { output } = command.opts<{ output: Output }>();
    const configuration = await configurationOf(command, process.env, (text) => void process.stderr.write(`${text}\n`));
    const logger = createLogger('text', 'warn');
    const fleet = await openInfrastructure(configuration, { clock: systemClock, random: systemRandom, logger });
    try {
      process.stdout.write(await action(fleet, command.args, output));
    } finally {
      await fleet.close();
    }
  });
}

async function find({ deadLetters }: OpenInfrastructure, names: readonly string[]) {
  const letters = await deadLetters.list();
  return names.map((name) => {
    const letter = letters.find((one) => one.name === name);
    if (letter === undefined) throw new UsageError(`no dead letter ${name}; "sluice dead-letters list" shows them`);
    return letter;
  });
}
