import type { KeyObject } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ArchiveEntry, tarGz, under } from '@sluice/platform/archive';
import { baseFiles, user } from './base-files.ts';
import { checksums, publicKeyOf, sha256, signature } from './checksums.ts';
import { krewManifest } from './krew.ts';
import { type NodeBinary, nodeBinary } from './node-binary.ts';
import { type Architecture, imageLayout } from './oci.ts';
import { buildProgram, mainFile, nodeFlags, type Program, pinnedNodeVersion } from './program-files.ts';
import { type OtherComponent, sbom } from './sbom.ts';

export interface ReleaseOptions {
  /** The checkout. */
  readonly root: string;
  readonly version: string;
  /** Modification time of everything, in seconds since the Unix epoch: SOURCE_DATE_EPOCH. */
  readonly createdAt: number;
  readonly architectures: readonly Architecture[];
  /** Directory for downloads. */
  readonly cache: string;
  /** Signs the checksums. */
  readonly key?: KeyObject;
  /** Where the archives will be published; required for the Krew manifest. */
  readonly baseUrl?: string;
  /** Called with what is being built. */
  readonly report: (text: string) => void;
}

/** Builds all files of a release, by path. Depends only on the checkout, the options and the downloaded packages. */
export async function buildRelease(options: ReleaseOptions): Promise<ReadonlyMap<string, Uint8Array>> {
  const { root, version, createdAt, report } = options;
  const files = new Map<string, Uint8Array>();
  report('bundling the program');
  const program = await buildProgram(root);
  const nodeVersion = pinnedNodeVersion(root);
  const nodes = options.architectures.map((architecture) => {
    report(`fetching Node ${nodeVersion} for ${architecture}`);
    return { architecture, node: nodeBinary(architecture, nodeVersion, options.cache) };
  });
  files.set(`sluice-${version}.tgz`, npmPackage(program, options));
  const archives = nodes.map(({ architecture, node }) => {
    report(`packing the archive for ${architecture}`);
    const file = `sluice-${version}-linux-${architecture}.tar.gz`;
    const content = archive(file.replace('.tar.gz', ''), program, node, options);
    files.set(file, content);
    return { architecture, file, sha256: sha256(content) };
  });
  const components: OtherComponent[] = nodes.map(({ node: { from, binary } }) => ({
    ...{ name: from, version: nodeVersion, purl: `pkg:npm/${from}@${nodeVersion}`, sha256: sha256(binary) },
  }));
  const platforms = nodes.map(({ architecture, node }) => {
    report(`building the image for ${architecture}`);
    const base = baseFiles(architecture, options.cache);
    components.push(...base.components);
    const layers = [
      { createdBy: 'Debian libraries and CA certificates', entries: base.entries },
      { createdBy: `Node ${nodeVersion}`, entries: nodeFiles('usr', node) },
      { createdBy: `Sluice ${version}`, entries: under('sluice', program.files) },
    ];
    return { architecture, layers };
  });
  for (const [path, content] of imageLayout(platforms, imageOptions(version, createdAt)))
    files.set(`sluice-${version}-oci/${path}`, content);
  files.set(`chart/sluice-${version}.tgz`, chart(root, createdAt));
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
  files.set(
    `sluice-${version}.cdx.json`,
    Buffer.from(sbom({ version, createdAt, lockfile, others: unique(components) })),
  );
  if (options.baseUrl !== undefined) {
    const manifest = krewManifest({ version, baseUrl: options.baseUrl, archives });
    files.set('krew/sluice.yaml', Buffer.from(manifest));
  }
  return signed(files, options.key);
}

function signed(files: Map<string, Uint8Array>, key: KeyObject | undefined): ReadonlyMap<string, Uint8Array> {
  const sums = checksums(files);
  files.set('SHA256SUMS', Buffer.from(sums));
  if (key === undefined) return files;
  files.set('SHA256SUMS.sig', Buffer.from(signature(sums, key)));
  return files.set('sluice.pub', Buffer.from(publicKeyOf(key)));
}

/** The package of the CLI for `npm install -g`. Its dependencies are part of the bundle. */
function npmPackage(program: Program, { root, version, createdAt }: ReleaseOptions): Buffer {
  const { description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly description: string;
    readonly license: string;
  };
  const manifest = {
    ...{ name: 'sluice', version, description, license },
    bin: Object.fromEntries(commandNames.map((name) => [name, `bin/${name}`])),
    engines: { node: '>=24' },
    os: ['linux', 'darwin'],
  };
  const files = [
    ...program.files,
    ...program.completions,
    ...commands(root),
    { path: 'package.json', content: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) },
    { path: 'README.md', content: readFileSync(join(root, 'README.md')) },
  ];
  return tarGz(under('package', files), createdAt);
}

function archive(folder: string, program: Program, node: NodeBinary, { root, createdAt }: ReleaseOptions): Buffer {
  const files = [
    ...program.files,
    ...program.completions,
    ...commands(root),
    { path: 'lib/node', content: node.binary, executable: true },
    { path: 'share/doc/node/LICENSE', content: node.license },
  ];
  return tarGz(under(folder, files), createdAt);
}

/** The program, the plugin of kubectl and its completion. */
const commandNames = ['sluice', 'kubectl-sluice', 'kubectl_complete-sluice'] as const;

function commands(root: string): readonly ArchiveEntry[] {
  const command = (path: string, source: string) => ({
    ...{ path, content: readFileSync(join(root, source)), executable: true },
  });
  return commandNames.map((name) =>
    command(`bin/${name}`, name === 'sluice' ? 'infra/release/launcher' : `bin/${name}`),
  );
}

const nodeFiles = (folder: string, { binary, license }: NodeBinary): readonly ArchiveEntry[] => [
  { path: `${folder}/bin/node`, content: binary, executable: true },
  { path: `${folder}/share/doc/node/LICENSE`, content: license },
];

const imageOptions = (version: string, createdAt: number) => ({
  name: `sluice:${version}`,
  createdAt,
  config: {
    User: `${user.id}:${user.id}`,
    // In the environment, so that a Deployment can override it.
    Env: ['PATH=/usr/bin', 'NODE_ENV=production', 'MALLOC_ARENA_MAX=1', 'NODE_OPTIONS=--max-semi-space-size=8'],
    Entrypoint: ['/usr/bin/node', ...nodeFlags, `/sluice/${mainFile}`],
    Cmd: ['run'],
    WorkingDir: '/sluice',
    Labels: {
      'org.opencontainers.image.title': 'sluice',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  },
});

/** The chart without its tests, as `helm package` packs it. */
function chart(root: string, createdAt: number): Buffer {
  const folder = join(root, 'infra/helm');
  const paths = globSync('{Chart.yaml,values.yaml,values.schema.json,{templates,files}/**/*.*}', { cwd: folder });
  const entries = paths.sort().map((path) => ({ path, content: readFileSync(join(folder, path)) }));
  return tarGz(under('sluice', entries), createdAt);
}

/** Packages for all architectures are listed once. */
const unique = (components: readonly OtherComponent[]): readonly OtherComponent[] => [
  ...new Map(components.map((component) => [component.purl, component])).values(),
];
