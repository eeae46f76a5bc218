import { flagOf, kindsOf, type Path, paths, settingAt } from '../setting-paths.ts';

/** Renders the table of docs/reference/settings.md. */
export function settingsTable(): string {
  const rows = paths.map(row);
  const head = ['setting', 'flag', 'default', 'meaning'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
}

function row(path: Path): readonly string[] {
  const { about, file } = settingAt(path);
  return [`\`${path}\`${file ? ' ◦' : ''}`, code(flagOf(path)), defaultText(path), `${about}${kindText(path)}`];
}

function code(text: unknown): string {
  return text === undefined ? '' : `\`${String(text)}\``;
}

function defaultText(path: Path): string {
  const { kind, defaultOf, ...setting } = settingAt(path);
  if ('default' in setting) return code(kind.show(setting.default));
  return Object.entries(defaultOf ?? {})
    .map(([name, value]) => `${code(kind.show(value))} (${names[name]})`)
    .join(', ');
}

const names: Readonly<Record<string, string>> = { nats: 'NATS', kafka: 'Kafka' };

function kindText(path: Path): string {
  const [kind, ...others] = path.startsWith('bus.') ? (kindsOf(path) ?? []) : [];
  return kind === undefined || others.length > 0 ? '' : ` (${names[kind]})`;
}
