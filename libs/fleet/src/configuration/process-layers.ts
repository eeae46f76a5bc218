import type { Given, Layer } from './layer.ts';
import { nearest, type Problems } from './problems.ts';
import { flagOf, paths, settingAt, variableOf } from './setting-paths.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The given flags with their texts, or with the values that commander parsed. */
export type ConfigurationFlags = Readonly<Record<string, unknown>>;

/** Environment variable with the path of the configuration file. */
export const configVariable = 'SLUICE_CONFIG';

/** Settings by environment variable; with `file`, the variable names the file with the value. */
const known = new Map(
  paths.flatMap((path) => {
    const names = settingAt(path).file ? [path, `${path}File`] : [path];
    return names.map((name) => [variableOf(name), { path, file: name !== path }] as const);
  }),
);

/** Variables that Kubernetes sets in containers for Services: a Service `sluice-x` leads to `SLUICE_X_PORT`. */
const serviceLink = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** Variables of Sluice that select the configuration file and the console of a command. */
const notSettings: ReadonlySet<string> = new Set([configVariable, 'SLUICE_CONSOLE']);

/** Reads the SLUICE_* variables. Empty ones count as unset; unknown ones are passed to `warn`. */
export function environmentLayer(environment: Environment, warn: (text: string) => void): Layer {
  const layer = new Map<string, Given>();
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('SLUICE_') || notSettings.has(variable) || text === undefined || text === '') continue;
    const found = known.get(variable);
    const origin = { from: 'environment', variable } as const;
    if (found?.file) layer.set(`${found.path}File`, { raw: text, origin });
    else if (found !== undefined) layer.set(found.path, { raw: settingAt(found.path).kind.fromText(text), origin });
    else if (!serviceLink.test(variable)) warn(unknown(variable));
  }
  return layer;
}

function unknown(variable: string): string {
  const meant = nearest(variable, [...known.keys(), configVariable]);
  return `unknown environment variable ${variable}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** Reads the given flags. */
export function flagLayer(flags: ConfigurationFlags, problems: Problems): Layer {
  const layer = new Map<string, Given>();
  for (const path of paths) {
    const flag = flagOf(path);
    const value = flag === undefined ? undefined : flags[flag];
    if (flag === undefined || value === undefined) continue;
    const { kind, file } = settingAt(path);
    const origin = { from: 'flag', flag } as const;
    const section = path === 'bus.servers' ? 'bus' : path === 'store.url' ? 'store' : undefined;
    if (file) {
      layer.set(`${path}File`, { raw: value, origin });
    } else if (section !== undefined && value === 'memory') {
      layer.set(`${section}.kind`, { raw: value, origin });
    } else if (section !== undefined && String(value).includes('@')) {
      const variables = `SLUICE_${section.toUpperCase()}_USERNAME and SLUICE_${section.toUpperCase()}_PASSWORD`;
      problems.add(`${flag} contains credentials, which are visible in the process list; set ${variables} instead`);
    } else {
      layer.set(path, { raw: typeof value === 'string' ? kind.fromText(value) : kind.show(value), origin });
    }
  }
  return layer;
}
