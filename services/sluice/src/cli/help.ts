import type { Command } from 'commander';

/** The same width in every terminal that is wide enough, and in pipes. */
export const helpWidth = (columns = 100): number => Math.max(60, Math.min(100, columns));

/** A command in the list of commands, with the names of its subcommands or its arguments. */
export function subcommandTerm(command: Command): string {
  const subcommands = command.commands.map((one) => one.name());
  if (subcommands.length > 0) return `${command.name()} ${subcommands.join('|')}`;
  const given = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
  return [command.name(), ...given].join(' ');
}
