import { load } from 'js-yaml';
import type { Plain } from './kinds.ts';
import { originText } from './layer.ts';
import type { Entry } from './values.ts';

/** Formats the configuration as a YAML file, with the origin of each value as a comment. */
export function toYaml(entries: readonly Entry[]): string {
  const lines: string[] = [];
  let open: readonly string[] = [];
  for (const { path, shown, origin } of entries) {
    const keys = path.split('.');
    const sections = keys.slice(0, -1);
    let depth = 0;
    while (depth < sections.length && sections[depth] === open[depth]) depth++;
    for (const [index, section] of [...sections.entries()].slice(depth)) lines.push(`${indent(index)}${section}:`);
    open = sections;
    const [first = '', ...others] = block(shown, indent(sections.length));
    lines.push(`${indent(sections.length)}${keys.at(-1)}:${first} # ${originText(origin)}`, ...others);
  }
  return `${lines.join('\n')}\n`;
}

/** Formats the configuration as JSON, which is a valid configuration file too. */
export function toJson(entries: readonly Entry[]): string {
  const root: Record<string, unknown> = {};
  for (const { path, shown } of entries) {
    const keys = path.split('.');
    let section = root;
    for (const key of keys.slice(0, -1)) {
      section[key] ??= {};
      section = section[key] as Record<string, unknown>;
    }
    section[keys.at(-1) ?? ''] = shown;
  }
  return `${JSON.stringify(root, null, 2)}\n`;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}

/** The text after the colon, followed by further lines. */
function block(value: Plain, margin: string): readonly string[] {
  if (!Array.isArray(value)) return [` ${scalar(value)}`];
  if (value.length === 0) return [' []'];
  return ['', ...value.flatMap((item: Plain) => listItem(item, margin))];
}

function listItem(item: Plain, margin: string): readonly string[] {
  if (typeof item !== 'object') return [`${margin}  - ${scalar(item)}`];
  return Object.entries(item).map(
    ([key, value], index) => `${margin}  ${index === 0 ? '- ' : '  '}${key}: ${scalar(value as Plain)}`,
  );
}

/** Formats a scalar, quoted unless YAML reads the plain text back unchanged. JSON is YAML. */
export function scalar(value: Plain): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return isPlain(value) ? value : JSON.stringify(value);
}

function isPlain(text: string): boolean {
  if (!/^[\w/][\w./:@+-]*$/.test(text)) return false;
  try {
    return load(text) === text;
  } catch {
    return false;
  }
}
