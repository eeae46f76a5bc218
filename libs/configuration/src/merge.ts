import { type Given, type Layer, where } from './layer.ts';
import { isMap, type Problems } from './problems.ts';

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
 * The layers on top of each other, the last on top. One that names another kind of bus or store begins that section
 * anew: credentials of one are not sent to the other.
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
      // The value itself and the file that holds it are two ways to say the same.
      merged.delete(path.endsWith('File') ? path.slice(0, -'File'.length) : `${path}File`);
      merged.set(path, given);
    }
  }
  return merged;
}

/** A scheme tells the kind. */
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
