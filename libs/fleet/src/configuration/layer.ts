import { isMap, type Problems } from './problems.ts';

/** The source of a value. */
export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'flag'; readonly flag: string };

/** A value as given, not validated yet. */
export interface Given {
  readonly raw: unknown;
  readonly origin: Origin;
}

/** The values of one source, by path: a setting, a setting followed by `File`, or `clusters`. */
export type Layer = ReadonlyMap<string, Given>;

/** Prefix of a message: the source and the setting it is about. */
export function where(origin: Origin, path: string): string {
  switch (origin.from) {
    case 'file':
      // An empty path means the whole file.
      return path === '' ? origin.file : `${origin.file}: ${path}`;
    case 'environment':
      return `${origin.variable} (${path})`;
    case 'flag':
      return `${origin.flag} (${path})`;
    case 'default':
      return path;
  }
}

const sections = [
  { name: 'bus', addresses: 'bus.servers' },
  { name: 'store', addresses: 'store.url' },
] as const;

const kindOfScheme: Readonly<Record<string, string>> = {
  nats: 'nats',
  tls: 'nats',
  kafka: 'kafka',
  redis: 'redis',
  rediss: 'redis',
};

/**
 * Merges layers; later ones take precedence. A layer that selects another kind of bus or store discards the settings of
 * that section from earlier layers, so credentials are never sent to another server.
 */
export function merge(layers: readonly Layer[], problems: Problems): Layer {
  const merged = new Map<string, Given>();
  for (const plain of layers) {
    const layer = withKinds(plain);
    for (const { name } of sections) {
      const [before, kind] = [merged.get(`${name}.kind`), layer.get(`${name}.kind`)];
      if (before === undefined || kind === undefined || before.raw === kind.raw) continue;
      for (const path of [...merged.keys()]) if (path.startsWith(`${name}.`)) merged.delete(path);
    }
    for (const [path, given] of layer) {
      if (layer.has(`${path}File`))
        problems.add(`${where(given.origin, path)} and ${path}File are both set: remove one of them`);
      // A value and the file that contains it are alternatives, so one replaces the other.
      merged.delete(path.endsWith('File') ? path.slice(0, -'File'.length) : `${path}File`);
      merged.set(path, given);
    }
  }
  return merged;
}

/** Derives the kind of bus and store from the scheme of their addresses. */
function withKinds(layer: Layer): Layer {
  const result = new Map(layer);
  for (const { name, addresses } of sections) {
    const given = layer.get(addresses);
    if (given === undefined || layer.has(`${name}.kind`)) continue;
    const first: unknown = Array.isArray(given.raw) || isMap(given.raw) ? Object.values(given.raw)[0] : given.raw;
    const [, scheme = ''] = /^\s*([a-z]+):\/\//.exec(typeof first === 'string' ? first : '') ?? [];
    const kind = Object.hasOwn(kindOfScheme, scheme) ? kindOfScheme[scheme] : undefined;
    if (kind !== undefined) result.set(`${name}.kind`, { raw: kind, origin: given.origin });
  }
  return result;
}
