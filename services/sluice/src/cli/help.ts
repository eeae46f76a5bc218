import type { Command, Help } from 'commander';

/** The same width in every terminal that is wide enough, and in pipes. */
export const helpWidth = (columns = 100): number => Math.max(60, Math.min(100, columns));

/** How the help of all commands looks. `columns`: of the terminal. */
export const helpStyle = (columns: number | undefined) => ({
  showGlobalOptions: true,
  helpWidth: helpWidth(columns),
  subcommandTerm,
  formatItem,
  // Descriptions have line breaks inside sentences, for the readers of the source.
  commandDescription: (command: Command) => command.description().replaceAll(/(?<![.:])\n/g, ' '),
});

/** Below this width, a description starts on the line after its term. */
const minRoom = 40;

/** A term, such as a flag, and its description. */
function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  if (description === '') return `  ${term}`;
  const width = help.helpWidth ?? helpWidth();
  const room = width - termWidth - 4;
  const hangs = room >= minRoom;
  const margin = ' '.repeat(hangs ? termWidth + 4 : 6);
  // Descriptions have line breaks for the readers of the source.
  const text = description.replaceAll(/\s*\n\s*/g, ' ');
  const lines = help.boxWrap(text, width - margin.length).replaceAll('\n', `\n${margin}`);
  return hangs ? `  ${term.padEnd(termWidth + 2)}${lines}` : `  ${term}\n${margin}${lines}`;
}

/** A command in the list of commands, with the names of its subcommands or its arguments. */
function subcommandTerm(command: Command): string {
  const subcommands = command.commands.map((one) => one.name());
  if (subcommands.length > 0) return `${command.name()} ${subcommands.join('|')}`;
  const given = command.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? '...' : ''}`;
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...given].join(' ');
}
