import { createHash } from 'node:crypto';
import { load } from 'js-yaml';

/** A component that is no npm package, such as a Debian package of the image. */
export interface OtherComponent {
  readonly name: string;
  readonly version: string;
  /** Package URL. */
  readonly purl: string;
  readonly sha256?: string;
}

export interface SbomOptions {
  readonly version: string;
  /** Seconds since the Unix epoch. */
  readonly createdAt: number;
  /** Text of pnpm-lock.yaml. */
  readonly lockfile: string;
  readonly others: readonly OtherComponent[];
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly resolution?: { readonly integrity?: string } }>>;
  readonly snapshots: Readonly<Record<string, Dependencies>>;
  readonly importers: Readonly<
    Record<string, { readonly dependencies?: Readonly<Record<string, { readonly version: string }>> }>
  >;
}

interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * A bill of materials (CycloneDX 1.6, JSON) of every package in the lockfile. What only builds or tests Sluice has the scope
 * `excluded`. Depends only on its arguments.
 */
export function sbom({ version, createdAt, lockfile, others }: SbomOptions): string {
  const { packages, snapshots, importers } = load(lockfile) as Lockfile;
  const shipped = shippedPackages(importers, snapshots);
  const components = Object.entries(packages).map(([key, { resolution }]) => {
    const { name, version } = nameAndVersion(key);
    return {
      type: 'library',
      'bom-ref': key,
      ...nameFields(name),
      version,
      scope: shipped.has(key) ? 'required' : 'excluded',
      ...hashes(resolution?.integrity),
      purl: purlOf(name, version),
    };
  });
  const further = others.map(({ name, version, purl, sha256 }) => ({
    ...{ type: 'library', 'bom-ref': purl, name, version, scope: 'required' },
    ...(sha256 !== undefined && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
    purl,
  }));
  const all = [...components, ...further].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const hash = createHash('sha256')
    .update(JSON.stringify([version, createdAt, all]))
    .digest('hex');
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid(hash)}`,
    version: 1,
    metadata: {
      timestamp: new Date(createdAt * 1_000).toISOString(),
      component: { type: 'application', 'bom-ref': 'sluice', name: 'sluice', version, purl: purlOf('sluice', version) },
    },
    components: all,
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Keys of the packages that some workspace package needs at run time, directly or not. */
function shippedPackages(importers: Lockfile['importers'], snapshots: Lockfile['snapshots']): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = Object.entries(importers)
    .filter(([folder]) => /^(libs|services|demo|fake-apiserver)\b/.test(folder))
    .flatMap(([, { dependencies = {} }]) =>
      Object.entries(dependencies).map(([name, { version }]) => `${name}@${version}`),
    );
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    const snapshot = snapshots[key];
    if (snapshot === undefined || found.has(withoutPeers(key))) continue;
    found.add(withoutPeers(key));
    const { dependencies = {}, optionalDependencies = {} } = snapshot;
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies }))
      queue.push(`${name}@${version}`);
  }
  return found;
}

const withoutPeers = (key: string): string => key.replace(/\(.*$/, '');

function nameAndVersion(key: string): { readonly name: string; readonly version: string } {
  const at = key.lastIndexOf('@');
  return { name: key.slice(0, at), version: key.slice(at + 1) };
}

function nameFields(name: string) {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return scope === undefined ? { name } : { group: scope, name: rest ?? name };
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** From `sha512-…` in base64. */
function hashes(integrity: string | undefined) {
  const [, algorithm, value = ''] = /^sha(\d+)-(.+)$/.exec(integrity ?? '') ?? [];
  if (algorithm === undefined) return {};
  return { hashes: [{ alg: `SHA-${algorithm}`, content: Buffer.from(value, 'base64').toString('hex') }] };
}

/** A UUID of version 8 from a hash. */
function uuid(hash: string): string {
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
