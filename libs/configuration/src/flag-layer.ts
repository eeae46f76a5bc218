import { type ConfigurationFlags, fileFlagPaths, flagPaths } from './flags.ts';
import type { Given, Layer } from './layer.ts';
import type { Problems } from './problems.ts';
import { settingAt } from './settings.ts';

/** Reads the given flags. */
export function flagLayer(flags: ConfigurationFlags, problems: Problems): Layer {
  const layer = new Map<string, Given>();
  for (const [flag, path] of Object.entries(fileFlagPaths) as [keyof typeof fileFlagPaths, string][]) {
    const raw = flags[flag];
    if (raw !== undefined) layer.set(`${path}File`, { raw, origin: { from: 'flag', flag } });
  }
  for (const flag of Object.keys(flagPaths) as (keyof typeof flagPaths)[]) {
    const value = flags[flag];
    if (value === undefined) continue;
    const path = flagPaths[flag];
    const origin = { from: 'flag', flag } as const;
    const section = path === 'bus.servers' ? 'bus' : path === 'store.url' ? 'store' : undefined;
    if (section !== undefined && value === 'memory') {
      layer.set(`${section}.kind`, { raw: value, origin });
    } else if (section !== undefined && String(value).includes('@')) {
      const variables = `SLUICE_${section.toUpperCase()}_USERNAME and SLUICE_${section.toUpperCase()}_PASSWORD`;
      problems.add(`${flag} contains credentials, which are visible in the process list; set ${variables} instead`);
    } else {
      const { kind } = settingAt(path);
      layer.set(path, { raw: typeof value === 'string' ? kind.fromText(value) : kind.show(value), origin });
    }
  }
  return layer;
}
