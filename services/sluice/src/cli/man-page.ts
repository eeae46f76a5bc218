import type { Command, Option } from 'commander';

/** A manual page of section 1 in roff (man-pages(7)). */
export interface ManPage {
  /** `sluice-parked-list`, as the file without its section. */
  readonly name: string;
  readonly text: string;
}

export interface ManPageOptions {
  readonly version: string;
  /** Sections at the end, by title. */
  readonly sections?: Readonly<Record<string, string>>;
}

/** The manual pages of a program and all its commands, from the definitions that --help prints. */
export function manPages(program: Command, options: ManPageOptions): readonly ManPage[] {
  return [...commandsOf(program, [])].map(({ command, path }) => page(command, path, options));
}

interface Found {
  readonly command: Command;
  readonly path: readonly string[];
}

function* commandsOf(command: Command, parents: readonly string[]): Generator<Found> {
  const path = [...parents, command.name()];
  yield { command, path };
  for (const one of command.commands) yield* commandsOf(one, path);
}

function page(command: Command, path: readonly string[], { version, sections = {} }: ManPageOptions): ManPage {
  const name = path.join('-');
  const related = [
    ...(path.length > 1 ? [path.slice(0, -1).join('-')] : []),
    ...command.commands.map((one) => `${name}-${one.name()}`),
  ];
  const lines = [
    `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`sluice ${version}`)} "Sluice"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(command.summary() || firstLine(command.description()))}`,
    '.SH SYNOPSIS',
    `.B ${escaped(path.join(' '))}`,
    escaped(command.usage()),
    '.SH DESCRIPTION',
    ...paragraphs(command.description()),
    ...optionLines(command),
    ...Object.entries(sections).flatMap(([title, text]) => [`.SH ${title}`, ...paragraphs(text)]),
    ...(related.length === 0 ? [] : ['.SH SEE ALSO', related.map((one) => `.BR ${escaped(one)} (1)`).join(' ,\n')]),
  ];
  return { name, text: `${lines.filter((line) => line !== '').join('\n')}\n` };
}

function optionLines(command: Command): readonly string[] {
  const shown = command.options.filter((option) => !option.hidden);
  const groups = Map.groupBy(shown, (option) => option.helpGroupHeading ?? 'Options:');
  return [...groups].flatMap(([heading, options]) => [
    `.SH ${heading.replace(/:$/, '').toUpperCase()}`,
    ...options.flatMap((option) => ['.TP', `.B ${escaped(option.flags)}`, escaped(meaning(command, option))]),
  ]);
}

/** Description, choices and default, as --help prints them. */
const meaning = (command: Command, option: Option): string => command.createHelp().optionDescription(option);

function paragraphs(text: string): readonly string[] {
  return text.split('\n').map((line) => (line.startsWith(' ') ? `.br\n${escaped(line.trim())}` : escaped(line)));
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

/** Text that roff prints as it is. A line must not start with a control character. */
function escaped(text: string): string {
  const plain = text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    // troff reads bytes, not UTF-8.
    .replaceAll(/[^ -~]/gu, (one) => `\\[u${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`);
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}

const quoted = (text: string): string => `"${escaped(text).replaceAll('"', '\\(dq')}"`;
