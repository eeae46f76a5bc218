import { load } from 'js-yaml';
import type { Plain } from './kinds.ts';
import type { Origin } from './layer.ts';
import { isClusterPath, kindsOf, type Path, paths, settingAt } from './setting-paths.ts';
import type { Entry } from './values.ts';

/** Formats the configuration as a YAML file, with the origin of each value as a comment. */
export function toYaml(entries: readonly Entry[]): string {
  const inSections = sections(({ path, shown, origin }: Entry, margin) => {
    const [first = '', ...others] = block(shown, margin);
    return [`${margin}${keyOf(path)}:${first} # ${originText(origin)}`, ...others];
  });
  return `${entries.flatMap(inSections).join('\n')}\n`;
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

/** Settings that are active in the example; all others are commented out. */
const active: ReadonlySet<string> = new Set<Path>(['fleet', 'partitions', 'bus.servers', 'store.url']);

const clusters = `# Clusters of this fleet. Logs and metrics use these names. Paths are relative to this file.
clusters:
  - name: production
    kubeconfig: /etc/sluice/production.kubeconfig
  # - name: staging
  #   kubeconfig: /etc/sluice/staging.kubeconfig
  #   context: staging-admin
  # - name: here
  #   inCluster: true
`;

/** An example file with all settings, most of them commented out. */
export function exampleFile(): string {
  const lines = [
    '# Sluice configuration. Environment variables override this file, flags override both. See "sluice config".',
    '# Commented settings show the default, or an example if there is no default. See docs/operations/configuration.md.',
  ];
  const inSections = sections(({ path }: { readonly path: Path }, margin) => exampleLines(path, margin));
  let section: string | undefined;
  for (const path of paths.filter((one) => !isClusterPath(one))) {
    const [first] = path.split('.');
    // An empty line between sections, and before the first one.
    const name = first === path ? '' : first;
    if (name !== section && (section !== undefined || name !== '')) lines.push('');
    section = name;
    lines.push(...inSections({ path }));
  }
  return `${lines.join('\n')}\n\n${clusters}`;
}

function exampleLines(path: Path, margin: string): readonly string[] {
  const { about, file } = settingAt(path);
  const [kind, ...others] = path.startsWith('bus.') ? (kindsOf(path) ?? []) : [];
  const comment = `${margin}# ${about}${kind === undefined || others.length > 0 ? '' : ` (${kind})`}`;
  const key = keyOf(path);
  if (file) {
    const name = path.replace(/[A-Z]/g, '-$&').replaceAll('.', '-').toLowerCase();
    return [comment, `${margin}# ${key}File: /run/secrets/${name}`];
  }
  const value = exampleOf(path);
  const text = Array.isArray(value) ? `[${value.map(scalar).join(', ')}]` : scalar(value);
  return [comment, `${margin}${active.has(path) ? '' : '# '}${key}: ${text}`];
}

function exampleOf(path: Path): Plain {
  const setting = settingAt(path);
  if (setting.example !== undefined) return setting.example;
  if ('default' in setting) return setting.kind.show(setting.default);
  const own = Object.values(setting.defaultOf ?? {})[0];
  return own === undefined ? '' : setting.kind.show(own);
}

/** Writes entries one after the other, each below the lines that open its sections. */
function sections<E extends { readonly path: string }>(write: (entry: E, margin: string) => readonly string[]) {
  let open: readonly string[] = [];
  return (entry: E): readonly string[] => {
    const names = entry.path.split('.').slice(0, -1);
    const known = names.findIndex((name, depth) => name !== open[depth]);
    const opened = known === -1 ? [] : names.slice(known);
    open = names;
    const lines = opened.map((name, index) => `${'  '.repeat(known + index)}${name}:`);
    return [...lines, ...write(entry, '  '.repeat(names.length))];
  };
}

const keyOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** Short form, for the comments of `sluice config`. */
function originText(origin: Origin): string {
  switch (origin.from) {
    case 'environment':
      return `env ${origin.variable}`;
    case 'flag':
      return `flag ${origin.flag}`;
    default:
      return origin.from;
  }
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
function scalar(value: Plain): string {
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
