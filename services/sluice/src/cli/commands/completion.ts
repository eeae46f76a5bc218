import { print } from '@sluice/platform/process';
import { Argument, Command } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

/** One command: its full name without `sluice`, and what may follow. */
interface Completed {
  readonly path: string;
  readonly summary: string;
  readonly subcommands: readonly Command[];
  /** Its argument is the name of a Service, which a console knows. */
  readonly takesService: boolean;
  readonly flags: readonly { readonly long: string; readonly description: string }[];
}

/** `addAll` adds all commands to a program. */
export function addCompletionCommand(program: Command, addAll: (program: Command) => Promise<void>): void {
  program
    .command('completion')
    .summary('print a completion script for bash, zsh or fish')
    .description(
      'Prints a script that completes commands, flags, and names of Services that a console knows:\n' +
        '  bash: source <(sluice completion bash)\n' +
        '  zsh:  source <(sluice completion zsh)\n' +
        '  fish: sluice completion fish | source',
    )
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const all = new Command('sluice');
      await addAll(all);
      print(process.stdout, completionScript(shell, all));
    });
}

export function completionScript(shell: Shell, program: Command): string {
  const commands = [...flatten(program, [])];
  if (shell === 'fish') return fishScript(commands);
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}${bashScript(commands)}`;
}

function* flatten(command: Command, path: readonly string[]): Generator<Completed> {
  const flags = command.options.flatMap(({ long, description }) => (long ? [{ long, description }] : []));
  yield {
    path: path.join(' '),
    summary: command.summary(),
    subcommands: command.commands,
    takesService: command.registeredArguments.some((argument) => /\bservice\b/.test(argument.name())),
    flags: [...flags, { long: '--help', description: 'display help' }],
  };
  for (const subcommand of command.commands) yield* flatten(subcommand, [...path, subcommand.name()]);
}

/** Fails at once if no console answers. */
const listServices = 'sluice services -o name 2>/dev/null';

function bashScript(commands: readonly Completed[]): string {
  // `$path $word` of every command; the path of the first level is empty.
  const known = commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => JSON.stringify(path.includes(' ') ? path : ` ${path}`));
  const services = commands.filter(({ takesService }) => takesService).map(({ path }) => JSON.stringify(path));
  const words = commands.map(({ path, subcommands, flags }) => {
    const names = [...subcommands.map((one) => one.name()), ...flags.map(({ long }) => long)];
    return `    ${JSON.stringify(path)}) words="${names.join(' ')}" ;;`;
  });
  return [
    '_sluice() {',
    `  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""`,
    // zsh takes a name at the start of an offset or length for a modifier.
    `  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do`,
    '    case "$path $word" in',
    `    ${known.join('|')}) path="\${path:+$path }$word" ;;`,
    '    esac',
    '  done',
    '  case "$path" in',
    ...words,
    '  esac',
    '  case "$cur" in -*) ;; *)',
    '    case "$path" in',
    `    ${services.join('|')}) words="$words $(${listServices})" ;;`,
    '    esac',
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -o default -F _sluice sluice',
    '',
  ].join('\n');
}

function fishScript(commands: readonly Completed[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").split('\n')[0]}'`;
  const lines = commands.flatMap(({ path, subcommands, flags, takesService }) => {
    const [command = '', subcommand] = path.split(' ');
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : [command, ...(subcommand ? [subcommand] : [])]
            .map((name) => `__fish_seen_subcommand_from ${name}`)
            .join('; and ');
    const when = `complete -c sluice -n ${quoted(condition)}`;
    return [
      ...subcommands.map((one) => `${when} -f -a ${one.name()} -d ${quoted(one.summary())}`),
      ...(takesService ? [`${when} -f -a '(${listServices})'`] : []),
      ...flags.map(({ long, description }) => `${when} -l ${long.slice(2)} -d ${quoted(description)}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}
