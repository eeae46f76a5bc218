import type { RawObject } from '@sluice/kubernetes';
import type { SliceTarget } from './scenario.ts';

interface Slice {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly generateName?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly addressType: string;
  readonly ports?: readonly Readonly<Record<string, unknown>>[] | null;
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null;
}

/** Characters of generated names (K1). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const longestBase = 58;
const suffixLength = 5;

/**
 * The slice that a step refers to; undefined if none matches. `created`: generated names with their namespaces, in
 * order of creation.
 */
export function findSlice(
  slices: readonly RawObject[],
  target: SliceTarget,
  created: readonly string[],
): Slice | undefined {
  const fitting = (slices as unknown as readonly Slice[]).filter((slice) => fits(slice, target));
  if (fitting.length === 0) return undefined;
  const keyed = fitting.map((slice) => ({ slice, key: sortKey(slice, created) }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return keyed[(target.nth ?? 0) % keyed.length]?.slice;
}

function fits({ metadata, addressType }: Slice, target: SliceTarget): boolean {
  if (target.namespace !== undefined && metadata.namespace !== target.namespace) return false;
  if (target.addressType !== undefined && addressType !== target.addressType) return false;
  return Object.entries(target.labels ?? {}).every(([key, value]) => metadata.labels?.[key] === value);
}

/** Sorts slices by content, because generated names differ between runs. */
function sortKey(slice: Slice, created: readonly string[]): Buffer {
  const ports = (slice.ports ?? []).map((port) =>
    Object.fromEntries(
      ['name', 'protocol', 'port', 'appProtocol'].flatMap((field) =>
        port[field] == null ? [] : [[field, port[field]]],
      ),
    ),
  );
  const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses?.slice(0, 1) ?? []);
  const first =
    addresses
      .map((address) => Buffer.from(address))
      .sort(Buffer.compare)[0]
      ?.toString() ?? '';
  const count = String(slice.endpoints?.length ?? 0).padStart(6, '0');
  return Buffer.from([slice.addressType, JSON.stringify(ports), first, count, recordedName(slice, created)].join('|'));
}

/** The recorder generates names in ascending order from `bbbbb` on, so they sort before most others. */
function recordedName({ metadata: { namespace, name, generateName } }: Slice, created: readonly string[]): string {
  const index = created.indexOf(`${namespace}/${name}`);
  if (index < 0 || generateName === undefined) return name;
  let suffix = '';
  for (let rest = index; suffix.length < suffixLength; rest = Math.floor(rest / alphabet.length)) {
    suffix = `${alphabet[rest % alphabet.length]}${suffix}`;
  }
  return generateName.slice(0, longestBase) + suffix;
}
