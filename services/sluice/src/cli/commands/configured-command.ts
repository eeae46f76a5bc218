import { type OpenInfrastructure, openInfrastructure } from '@sluice/backends';
import { addConfigurationOptions, configurationOf } from '@sluice/configuration';
import { createLogger, systemClock, systemRandom } from '@sluice/process';
import { type Command, Option } from 'commander';

export type Configuration = Awaited<ReturnType<typeof configurationOf>>;

export interface Called<O> {
  /** Of file, environment and flags; throws what is wrong with them. */
  readonly configure: () => Promise<Configuration>;
  readonly args: readonly string[];
  readonly options: O;
}

/**
 * A command of a group that works on what file, environment and flags configure, and prints what `action` returns. Of
 * the forms the first is the default.
 */
export function addConfiguredCommand<O extends { readonly output: string }>(
  group: Command,
  {
    usage,
    summary,
    forms,
  }: { readonly usage: string; readonly summary: string; readonly forms: readonly O['output'][] },
  action: (called: Called<O>) => Promise<string>,
): Command {
  const command = group
    .command(usage)
    .summary(summary)
    .description(summary)
    .addOption(new Option('-o, --output <format>', 'output format').choices([...forms]).default(forms[0]));
  return addConfigurationOptions(command).action(async () => {
    const configure = () => configurationOf(command, process.env, (text) => void process.stderr.write(`${text}\n`));
    process.stdout.write(await action({ configure, args: command.args, options: command.opts<O>() }));
  });
}

/** Does something with bus and store of a fleet, and lets them go. */
export async function withFleet<T>(
  configuration: Configuration,
  action: (fleet: OpenInfrastructure) => Promise<T>,
): Promise<T> {
  const logger = createLogger('text', 'warn');
  const fleet = await openInfrastructure(configuration, { clock: systemClock, random: systemRandom, logger });
  try {
    return await action(fleet);
  } finally {
    await fleet.close();
  }
}
