import { errorCode, type ReadText } from './file-layer.ts';
import type { Plain } from './kinds.ts';
import { type Layer, type Origin, where } from './layer.ts';
import { issueText, type Problems } from './problems.ts';
import { isClusterPath, type Path, paths, settingAt, type ValueOf, visibilityOf } from './settings.ts';

/** One line of `sluice config`: as a file would have it, secrets masked. */
export interface Entry {
  readonly path: string;
  readonly shown: Plain;
  readonly origin: Origin;
}

/** The checked values by path, with what they were given by. */
export class Values {
  readonly #values = new Map<Path, unknown>();
  readonly #origins = new Map<Path, Origin>();

  /** Undefined: neither given nor by default. */
  get<P extends Path>(path: P): ValueOf<P> | undefined {
    // A value is set only as the schema of its own path has made it.
    return this.#values.get(path) as ValueOf<P> | undefined;
  }

  /** Of a setting that has a default. */
  need<P extends Path>(path: P): ValueOf<P> {
    const value = this.get(path);
    if (value === undefined) throw new Error(`${path} has neither a value nor a default`);
    return value;
  }

  has(path: Path): boolean {
    return this.#values.has(path);
  }

  /** Begins a message on this value. */
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

  /** For what follows from other values: takes effect where nothing was given. */
  setDefault<P extends Path>(path: P, value: ValueOf<P>): void {
    if (!this.has(path)) this.set(path, value, { from: 'default' });
  }

  /** In the order of the settings, clusters apart. */
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

/** All before the last @ of an address is left out, so that nothing of an odd password stays. */
function withoutCredentials(shown: Plain): Plain {
  if (typeof shown === 'string') return shown.replace(/^([a-z]+:\/\/).*@/s, '$1***@');
  return Array.isArray(shown) ? shown.map(withoutCredentials) : shown;
}

/** Checks each value, and adds the defaults of the kinds of bus and store that were chosen. */
export function check(given: Layer, readText: ReadText, problems: Problems): Values {
  const values = new Values();
  const misplaced: string[] = [];
  for (const path of paths) {
    const found = given.get(path) ?? given.get(`${path}File`);
    if (found === undefined) continue;
    const raw = given.has(path) ? found.raw : content(String(found.raw), readText);
    if (raw instanceof Error) {
      problems.add(`${where(found.origin, `${path}File`)}: the file ${raw.message}`);
      continue;
    }
    const setting = settingAt(path);
    const { data, error } = setting.kind.schema.safeParse(raw);
    const at = { at: (inner: string) => where(found.origin, inner), path };
    const visibility = given.has(path) ? visibilityOf(setting) : 'hidden';
    for (const issue of error?.issues ?? []) problems.add(issueText(at, issue, raw, [], visibility));
    if (error !== undefined) continue;
    if (applies(path, given)) values.set(path, data, found.origin);
    else if (lacksKind(path, given)) problems.add(`${at.at(path)} ${kindWanted}`);
    else misplaced.push(`${at.at(path)} applies to ${setting.of?.join(' and ')} only, but ${kindText(path, given)}`);
  }
  // Otherwise an address is wrong, perhaps, that would have told the kind.
  if (problems.none) for (const text of misplaced) problems.add(text);
  addDefaults(values, given);
  return values;
}

function addDefaults(values: Values, given: Layer): void {
  for (const path of paths) {
    const setting = settingAt(path);
    if (given.has(path) || given.has(`${path}File`) || !applies(path, given)) continue;
    const own = setting.defaultOf?.[kindOf('bus', given)];
    if (own !== undefined || 'default' in setting) values.set(path, own ?? setting.default, { from: 'default' });
  }
}

const kindWanted = 'has no scheme; expected nats://, tls:// or kafka://, or set bus.kind';

function applies(path: Path, given: Layer): boolean {
  return settingAt(path).of?.includes(kindOf(sectionOf(path), given)) ?? true;
}

/** Addresses without a scheme, and no kind beside them. Those of a store always have one. */
function lacksKind(path: Path, given: Layer): boolean {
  return path === 'bus.servers' && !given.has('bus.kind');
}

function kindText(path: Path, given: Layer): string {
  return `the ${sectionOf(path)} is ${kindOf(sectionOf(path), given)}`;
}

function sectionOf(path: Path): 'bus' | 'store' {
  return path.startsWith('bus.') ? 'bus' : 'store';
}

function kindOf(section: string, given: Layer): string {
  return String(given.get(`${section}.kind`)?.raw ?? 'memory');
}

/** Without the line feed that editors put at the end. */
function content(file: string, readText: ReadText): string | Error {
  try {
    const text = readText(file).replace(/\r?\n$/, '');
    return text === '' ? new Error('is empty') : text;
  } catch (error) {
    return new Error(errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${errorCode(error)}`);
  }
}
