import { errorCode, type ReadText } from './file-layer.ts';
import type { Plain } from './kinds.ts';
import { type Layer, type Origin, where } from './layer.ts';
import { issueText, type Problems } from './problems.ts';
import { isClusterPath, type Path, paths, type Setting, settingAt, type ValueOf } from './settings.ts';

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
  for (const path of paths) {
    const found = given.get(path) ?? given.get(`${path}File`);
    if (found === undefined) continue;
    const setting = settingAt(path);
    if (!applies(path, setting, given)) {
      const [section = ''] = path.split('.');
      const kind = kindOf(section, given);
      problems.add(`${where(found.origin, path)} is for ${setting.of?.join(' and ')}, and the ${section} is ${kind}`);
      continue;
    }
    const raw = given.has(path) ? found.raw : content(String(found.raw), readText);
    if (raw instanceof Error) {
      problems.add(`${where(found.origin, `${path}File`)}: the file that it names ${raw.message}`);
      continue;
    }
    const { data, error } = setting.kind.schema.safeParse(raw);
    for (const issue of error?.issues ?? []) {
      problems.add(issueText(where(found.origin, path), issue, raw, [], setting.secret ?? !given.has(path)));
    }
    if (error === undefined) values.set(path, data, found.origin);
  }
  for (const path of paths) {
    const setting = settingAt(path);
    if (given.has(path) || given.has(`${path}File`) || !applies(path, setting, given)) continue;
    const own = setting.defaultOf?.[kindOf('bus', given)];
    if (own !== undefined || 'default' in setting) values.set(path, own ?? setting.default, { from: 'default' });
  }
  return values;
}

function applies(path: Path, { of }: Setting<unknown>, given: Layer): boolean {
  if (of === undefined) return true;
  const section = path.startsWith('bus.') ? 'bus' : 'store';
  const kind = kindOf(section, given);
  // Of a kind that there is not, one message is enough.
  return of.includes(kind) || !settingAt(`${section}.kind`).kind.schema.safeParse(kind).success;
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
