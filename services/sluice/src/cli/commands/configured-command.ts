import { addConfigurationOptions, configurationOf } from '@sluice/fleet/configuration';
import { BusClaim, type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import { createLogger, print, showWait, systemClock, systemRandom } from '@sluice/platform/process';
import { type Command, Option } from 'commander';

export type Configuration = Awaited<ReturnType<typeof configurationOf>>;

interface Called<O> {
  /** Loads the configuration from file, environment and flags. Throws UsageError. */
  readonly configure: () => Promise<Configuration>;
  readonly args: readonly string[];
  readonly options: O;
}

interface CommandForm<O extends { readonly output: string }> {
  readonly usage: string;
  readonly summary: string;
  /** Default: the summary. */
  readonly description?: string;
  readonly formats: readonly O['output'][];
  readonly waitingFor?: string;
}

/**
 * Adds a command to a group that loads the configuration and prints the result of `action`. The first of the output
 * formats is the default.
 */
export function addConfiguredCommand<O extends { readonly output: string }>(
  group: Command,
  { usage, summary, description = summary, formats, waitingFor = 'waiting for answers' }: CommandForm<O>,
  action: (called: Called<O>) => Promise<string>,
): Command {
  const command = group
    .command(usage)
    .summary(summary)
    .description(description)
    .addOption(new Option('-o, --output <format>', 'output format').choices([...formats]).default(formats[0]));
  // Options that follow belong to the command.
  return addConfigurationOptions(command)
    .optionsGroup('Options:')
    .action(async () => {
      const configure = () => configurationOf(command, process.env, (text) => print(process.stderr, `${text}\n`));
      const work = action({ configure, args: command.args, options: command.opts<O>() });
      const terminal = { clock: systemClock, output: process.stderr };
      print(process.stdout, await showWait(waitingFor, work, terminal));
    });
}

/** The values as lines of JSON. */
export const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** Connects to bus and store for the duration of `action`. */
export async function withFleet<T>(
  configuration: Configuration,
  action: (fleet: OpenInfrastructure) => Promise<T>,
): Promise<T> {
  const logger = createLogger('text', 'warn');
  const ports = { clock: systemClock, random: systemRandom, logger };
  const fleet = await openInfrastructure(configuration, ports);
  try {
    await new BusClaim({ ...fleet, ...ports, fleet: configuration.fleet }).verify();
    return await action(fleet);
  } finally {
    await fleet.close();
  }
}
