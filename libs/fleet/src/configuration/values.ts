import { errorCode, type ReadText } from './file-layer.ts';
import type { Plain } from './kinds.ts';
import { type Layer, type Origin, where } from './layer.ts';
import { type Problems, parse } from './problems.ts';
import {
  isClusterPath,
  kindsOf,
  type Path,
  paths,
  type Section,
  settingAt,
  type Value,
  visibilityOf,
} from './setting-paths.ts';

/** One line of `sluice config`, in the form of the file, with secrets masked. */
export interface Entry {
  readonly path: string;
  readonly shown: Plain;
  readonly origin: Origin;
}

/** Validated values by path, with their origins. */
export class Values {
  readonly #values = new Map<Path, unknown>();
  readonly #origins = new Map<Path, Origin>();

  get<P extends Path>(path: P): Value<P> {
    // Safe: each value was parsed by the kind of its own path, and defaults were added.
    return this.#values.get(path) as Value<P>;
  }

  /** The value of a setting whose default depends on others. */
  need<P extends Path>(path: P): NonNullable<Value<P>> {
    const value = this.get(path);
    if (value === undefined || value === null) throw new Error(`${path} has neither a value nor a default`);
    return value;
  }

  /** The values of all settings directly below a path. */
  section<S extends string>(name: S): Section<S> {
    const below = paths.filter((path) => path.startsWith(`${name}.`));
    // Safe: these are the paths of that type.
    return Object.fromEntries(below.map((path) => [path.slice(name.length + 1), this.get(path)])) as Section<S>;
  }

  has(path: Path): boolean {
    return this.#values.has(path);
  }

  /** Prefix of a message about this value. */
  where(path: Path): string {
    return where(this.originOf(path), path);
  }

  originOf(path: Path): Origin {
    return this.#origins.get(path) ?? { from: 'default' };
  }

  set(path: Path, value: unknown, origin: Origin): void {
    this.#values.set(path, value);
    this.#origins.set(path, origin);
  }

  /** Sets a default that depends on other values. */
  setDefault<P extends Path>(path: P, value: Value<P>): void {
    if (!this.has(path)) this.set(path, value, { from: 'default' });
  }

  /** In the order of the settings, without clusters. */
  entries(given: Layer): readonly Entry[] {
    return paths
      .filter((path) => this.has(path) && !isClusterPath(path))
      .map((path) => {
        const origin = this.originOf(path);
        const source = given.get(`${path}File`);
        if (source !== undefined) return { path: `${path}File`, shown: String(source.raw), origin };
        const { kind, secret } = settingAt(path);
        return { path, shown: secret ? '***' : withoutCredentials(kind.show(this.get(path))), origin };
      });
  }
}

/** Masks everything before the last @ of an address, so that no part of an unusual password remains. */
function withoutCredentials(shown: Plain): Plain {
  if (typeof shown === 'string') return shown.replace(/^([a-z]+:\/\/).*@/s, '$1***@');
  return Array.isArray(shown) ? shown.map(withoutCredentials) : shown;
}

/** An object without the properties that are undefined. */
export function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Safe: only undefined properties are dropped.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** Validates each value and adds the defaults for the chosen kinds of bus and store. */
export function check(given: Layer, readText: ReadText, problems: Problems): Values {
  const values = new Values();
  const misplaced: string[] = [];
  for (const path of paths) {
    const setting = settingAt(path);
    const found = given.get(path) ?? given.get(`${path}File`);
    if (found === undefined) {
      const fallback = setting.defaultOf?.[kindOf('bus', given)];
      if (applies(path, given) && (fallback !== undefined || 'default' in setting))
        values.set(path, fallback ?? setting.default, { from: 'default' });
      continue;
    }
    const at = (entry: string) => where(found.origin, `${path}${entry}`);
    const raw = given.has(path) ? found.raw : content(String(found.raw), readText);
    if (raw instanceof Error) {
      problems.add(`${at('File')}: the file ${raw.message}`);
      continue;
    }
    const visibility = given.has(path) ? visibilityOf(setting) : 'hidden';
    const parsed = parse({ kind: setting.kind, raw, at, visibility }, problems);
    if (parsed === undefined) continue;
    const section = sectionOf(path);
    if (applies(path, given)) values.set(path, parsed.value, found.origin);
    else if (path === 'bus.servers' && !given.has('bus.kind')) problems.add(`${at('')} ${missingScheme}`);
    else
      misplaced.push(
        `${at('')} applies to ${kindsOf(path)?.join(' and ')} only, but the ${section} is ${kindOf(section, given)}`,
      );
  }
  // Skipped if there are other problems: an invalid address may be why the kind is wrong.
  if (problems.none) for (const text of misplaced) problems.add(text);
  return values;
}

/** Of bus addresses without a scheme if no kind is set. Store addresses always have a scheme. */
const missingScheme = 'has no scheme; expected nats://, tls:// or kafka://, or set bus.kind';

function applies(path: Path, given: Layer): boolean {
  return kindsOf(path)?.includes(kindOf(sectionOf(path), given)) ?? true;
}

function sectionOf(path: Path): 'bus' | 'store' {
  return path.startsWith('bus.') ? 'bus' : 'store';
}

function kindOf(section: string, given: Layer): string {
  return String(given.get(`${section}.kind`)?.raw ?? 'memory');
}

/** Reads the value from a file, without the trailing newline. */
function content(file: string, readText: ReadText): string | Error {
  try {
    const text = readText(file).replace(/\r?\n$/, '');
    return text === '' ? new Error('is empty') : text;
  } catch (error) {
    return new Error(errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${errorCode(error)}`);
  }
}
