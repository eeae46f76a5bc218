import type { Plain } from './kinds.ts';
import { scalar } from './print.ts';
import { isClusterPath, type Path, paths, settingAt } from './settings.ts';

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
  let open: readonly string[] = [];
  for (const path of paths) {
    if (isClusterPath(path)) continue;
    const keys = path.split('.');
    const sections = keys.slice(0, -1);
    for (const [depth, section] of sections.entries()) {
      if (open[depth] === section) continue;
      if (depth === 0) lines.push('');
      lines.push(`${'  '.repeat(depth)}${section}:`);
    }
    if (sections.length === 0 && open.length > 0) lines.push('');
    open = sections;
    lines.push(...settingLines(path, keys.at(-1) ?? '', '  '.repeat(sections.length)));
  }
  return `${lines.join('\n')}\n\n${clusters}`;
}

function settingLines(path: Path, key: string, margin: string): readonly string[] {
  const { about, of, file } = settingAt(path);
  const lines = [
    `${margin}# ${about}${of === undefined || !path.startsWith('bus.') || of.length > 1 ? '' : ` (${of.join(', ')})`}`,
  ];
  const mark = active.has(path) ? '' : '# ';
  if (file)
    return [
      ...lines,
      `${margin}# ${key}File: /run/secrets/${path.replace(/[A-Z]/g, '-$&').replaceAll('.', '-').toLowerCase()}`,
    ];
  const value = exampleOf(path);
  if (!Array.isArray(value)) return [...lines, `${margin}${mark}${key}: ${scalar(value)}`];
  return [...lines, `${margin}${mark}${key}: [${value.map(scalar).join(', ')}]`];
}

function exampleOf(path: Path): Plain {
  const setting = settingAt(path);
  if (setting.example !== undefined) return setting.example;
  if ('default' in setting) return setting.kind.show(setting.default);
  const own = Object.values(setting.defaultOf ?? {})[0];
  return own === undefined ? (examples[path] ?? '') : setting.kind.show(own);
}

/** Examples for settings whose default depends on other settings. */
const examples: Readonly<Partial<Record<Path, Plain>>> = {
  'bus.tls.enabled': true,
  'bus.minInsyncReplicas': 2,
  'clusterSecrets.selector': 'sluice.io/cluster=true',
  'clusterSecrets.kubeconfig': '/etc/sluice/management.kubeconfig',
  'clusterSecrets.context': 'management',
  'leases.heartbeat': '250ms',
};
