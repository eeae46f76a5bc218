import { errorCode, type ReadText } from './file-layer.ts';
import type { Plain } from './kinds.ts';
import { type Layer, type Origin, where } from './layer.ts';
import { issueText, type Problems } from './problems.ts';
import { isClusterPath, type Path, paths, settingAt, type ValueOf, visibilityOf } from './settings.ts';

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

  /** Undefined if neither given nor defaulted. */
  get<P extends Path>(path: P): ValueOf<P> | undefined {
    // Safe: each value was parsed by the schema of its own path.
    return this.#values.get(path) as ValueOf<P> | undefined;
  }

  /** The value of a setting that has a default. */
  need<P extends Path>(path: P): ValueOf<P> {
    const value = this.get(path);
    if (value === undefined) throw new Error(`${path} has neither a value nor a default`);
    return value;
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
  setDefault<P extends Path>(path: P, value: ValueOf<P>): void {
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

/** Validates each value and adds the defaults for the chosen kinds of bus and store. */
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
    else if (lacksKind(path, given)) problems.add(`${at.at(path)} ${missingScheme}`);
    else misplaced.push(`${at.at(path)} applies to ${setting.of?.join(' and ')} only, but ${kindText(path, given)}`);
  }
  // Skipped if there are other problems: an invalid address may be why the kind is wrong.
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

const missingScheme = 'has no scheme; expected nats://, tls:// or kafka://, or set bus.kind';

function applies(path: Path, given: Layer): boolean {
  return settingAt(path).of?.includes(kindOf(sectionOf(path), given)) ?? true;
}

/** True for bus addresses without a scheme if no kind is set. Store addresses always have a scheme. */
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

/** Reads the value from a file, without the trailing newline. */
function content(file: string, readText: ReadText): string | Error {
  try {
    const text = readText(file).replace(/\r?\n$/, '');
    return text === '' ? new Error('is empty') : text;
  } catch (error) {
    return new Error(errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${errorCode(error)}`);
  }
}
