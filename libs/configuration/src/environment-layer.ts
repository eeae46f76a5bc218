import { configVariable } from './config-variable.ts';
import type { Given, Layer } from './layer.ts';
import { nearest } from './nearest.ts';
import { paths, settingAt, variableOf } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Setting paths by environment variable. */
const known: ReadonlyMap<string, string> = new Map(
  paths.flatMap((path) =>
    (settingAt(path).file ? [path, `${path}File`] : [path]).map((one) => [variableOf(one), one] as const),
  ),
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
    const path = known.get(variable);
    if (path === undefined) {
      if (!serviceLink.test(variable)) warn(unknown(variable));
      continue;
    }
    const raw = path.endsWith('File') ? text : textOf(path, text);
    layer.set(path, { raw, origin: { from: 'environment', variable } });
  }
  return layer;
}

function textOf(path: string, text: string): unknown {
  const found = paths.find((one) => one === path);
  return found === undefined ? text : settingAt(found).kind.fromText(text);
}

function unknown(variable: string): string {
  const meant = nearest(variable, [...known.keys(), configVariable]);
  return `unknown environment variable ${variable}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}
