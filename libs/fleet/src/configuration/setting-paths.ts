import type { Kind } from './kinds.ts';
import type { Setting } from './setting.ts';
import { allSettings, clusterSettings } from './settings.ts';

/** The path of a setting in the file. */
export type Path = keyof typeof allSettings;
type ValueOf<P extends Path> = (typeof allSettings)[P]['kind'] extends Kind<infer T> ? T : never;

/** The value of a setting: undefined only without a default. */
export type Value<P extends Path> = (typeof allSettings)[P] extends { readonly default: unknown }
  ? ValueOf<P>
  : ValueOf<P> | undefined;

/** The values of all settings below a path, by their names. */
export type Section<S extends string> = {
  readonly [P in Path as P extends `${S}.${infer Name}` ? Name : never]: Value<P>;
};

export const paths = Object.keys(allSettings) as readonly Path[];

/** Setting without the type of its value. */
export function settingAt(path: Path): Setting<unknown> {
  const setting: Setting<unknown> | undefined = allSettings[path];
  if (setting === undefined) throw new Error(`no setting is called ${path}`);
  return setting;
}

/** The defaults of all settings below a path, by their names. */
export function defaultsOf<S extends string>(name: S): Section<S> {
  const below = paths.filter((path) => path.startsWith(`${name}.`));
  // Safe: these are the paths of that type.
  return Object.fromEntries(
    below.map((path) => [path.slice(name.length + 1), settingAt(path).default]),
  ) as unknown as Section<S>;
}

/** Kinds of bus or store to which a setting applies; undefined: all. */
export function kindsOf(path: Path): readonly string[] | undefined {
  if (path.endsWith('.kind')) return undefined;
  if (path.startsWith('store.')) return ['redis'];
  return path.startsWith('bus.') ? (settingAt(path).of ?? ['nats', 'kafka']) : undefined;
}

/** `--max-cache-bytes` */
export function flagOf(path: Path): string | undefined {
  return settingAt(path).flag?.split(' ')[0];
}

/** `bus.maxAge.changes` → `SLUICE_BUS_MAX_AGE_CHANGES` */
export function variableOf(path: string): string {
  return `SLUICE_${path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`;
}

/** How much of a wrong value a message may show. */
export type Visibility = 'shown' | 'address' | 'hidden';

export function visibilityOf({ secret, address }: Setting<unknown>): Visibility {
  return secret ? 'hidden' : address ? 'address' : 'shown';
}

export function isClusterPath(path: Path): path is keyof typeof clusterSettings {
  return path in clusterSettings;
}
