import { Command } from 'commander';
import { addCommands } from '../cli/commands/all.ts';

/** Why `sluice` rejects arguments; undefined if it accepts them. Nothing runs. */
export type CheckArguments = (args: readonly string[]) => string | undefined;

/** For tests of what the documentation says. Words in capitals stand for any argument: `NAMESPACE/SERVICE`. */
export async function loadCommandLine(): Promise<CheckArguments> {
  const sluice = new Command('sluice');
  await addCommands(sluice, undefined);
  return (args) => {
    const [command, rest] = called(sluice, args);
    // `sluice --version`, `sluice COMMAND --help`.
    if (command === sluice && /^(?:COMMAND|--version|--help)$/.test(rest[0] ?? '')) return undefined;
    const names = command.commands.map((each) => each.name());
    if (names.length === 0 || command.registeredArguments.length > 0) return faultOf(command, rest);
    return `${command.name()} has no command ${rest[0] ?? ''}; it has ${names.join(', ')}`;
  };
}

/** The called command, and what follows its name. */
function called(command: Command, args: readonly string[]): readonly [Command, readonly string[]] {
  const [name = '', ...rest] = args;
  const found = command.commands.find((each) => each.name() === name || each.aliases().includes(name));
  return found === undefined ? [command, args] : called(found, rest);
}

function faultOf(command: Command, args: readonly string[]): string | undefined {
  let error = '';
  command.exitOverride().configureOutput({
    writeErr: (text) => {
      error += text;
    },
  });
  try {
    const { operands, unknown } = command.parseOptions(args.filter((word) => word !== '--help'));
    if (unknown.length > 0) return `${command.name()} has no ${unknown[0]}`;
    const expected = command.registeredArguments;
    if (operands.length > expected.length && expected.at(-1)?.variadic !== true)
      return `${command.name()} takes ${expected.length} arguments, not ${operands.join(' ')}`;
    const wrong = operands.find(
      (word, index) => !/^[A-Z/]+$/.test(word) && expected[index]?.argChoices?.includes(word) === false,
    );
    return wrong === undefined ? undefined : `${command.name()} does not take ${wrong}`;
  } catch {
    return error.trim();
  }
}

/** The flags of all commands. */
export async function allFlags(): Promise<ReadonlySet<string>> {
  const sluice = new Command('sluice');
  await addCommands(sluice, undefined);
  const flagsOf = (command: Command): readonly string[] => [
    ...command.options.flatMap(({ long }) => long ?? []),
    ...command.commands.flatMap(flagsOf),
  ];
  return new Set(['--help', '--version', ...flagsOf(sluice)]);
}

/** A command that does something itself. */
export interface CommandForm {
  /** `parked list` */
  readonly name: string;
  /** The choices of `--output`; empty without that flag. */
  readonly formats: readonly string[];
}

/** All commands that do something themselves. */
export async function allCommands(): Promise<readonly CommandForm[]> {
  const sluice = new Command('sluice');
  await addCommands(sluice, undefined);
  const below = (command: Command, path: readonly string[]): readonly CommandForm[] => {
    const subcommands = command.commands.flatMap((one) => below(one, [...path, one.name()]));
    if (subcommands.length > 0 && command.registeredArguments.length === 0) return subcommands;
    const formats = command.options.find(({ long }) => long === '--output')?.argChoices ?? [];
    return [{ name: path.join(' '), formats }, ...subcommands];
  };
  return sluice.commands.flatMap((command) => below(command, [command.name()]));
}
