import { execFileSync } from 'node:child_process';
import {
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { ArchiveEntry } from '@sluice/platform/archive';
import { sha256 } from './checksums.ts';
import type { Architecture } from './oci.ts';
import type { OtherComponent } from './sbom.ts';

/** What Node needs of a Linux system: the C and C++ libraries, and the certificates for programs that do not bring theirs. */
const packages = ['libc6', 'libgcc-s1', 'libstdc++6', 'ca-certificates'] as const;

const libraries = /\/(?:ld-linux[\w-]*|lib(?:c|m|dl|pthread|resolv|gcc_s|stdc\+\+))\.so\.\d+$/;

/** The user in the image; its number is that of distroless images. */
export const user = { name: 'nonroot', id: 65_532 } as const;

export interface BaseFiles {
  readonly entries: readonly ArchiveEntry[];
  readonly components: readonly OtherComponent[];
}

/**
 * The files of an image below Node, from Debian packages that apt downloads and verifies. Neither the system's packages nor
 * its configuration change; another architecture needs no setup. There is no shell and no package manager in them.
 *
 * @param cache directory for package lists and packages
 */
export function baseFiles(architecture: Architecture, cache: string): BaseFiles {
  const debs = download(architecture, cache);
  const root = mkdtempSync(join(cache, 'root-'));
  try {
    for (const { path } of debs) execFileSync('dpkg-deb', ['--extract', path, root]);
    const entries = [...libraryFiles(root), certificates(root), ...copyrights(root), ...accountFiles()];
    return { entries, components: debs.map((deb) => component(deb, architecture)) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Deb {
  readonly path: string;
  readonly name: string;
  readonly version: string;
}

function download(architecture: Architecture, cache: string): readonly Deb[] {
  const directory = join(cache, `apt-${architecture}`);
  const archives = join(directory, 'packages');
  for (const name of ['lists/partial', 'cache/archives/partial', 'packages'])
    mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, 'status'), '');
  for (const name of readdirSync(archives)) rmSync(join(archives, name));
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Dir::State::Lists': join(directory, 'lists'),
    'Dir::State::status': join(directory, 'status'),
    'Dir::Cache': join(directory, 'cache'),
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    // The directories above belong to the caller, not to the user _apt.
    'APT::Sandbox::User': '',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const apt = (...args: string[]) =>
    execFileSync('apt-get', ['-qq', ...options, ...args], { cwd: archives, stdio: ['ignore', 'ignore', 'pipe'] });
  apt('update');
  apt('download', ...packages);
  return readdirSync(archives)
    .sort()
    .map((file) => {
      const path = join(archives, file);
      const field = (name: string) => execFileSync('dpkg-deb', ['--field', path, name]).toString().trim();
      return { path, name: field('Package'), version: field('Version') };
    });
}

/** Each library under the name that programs load, where the loader looks for it. */
function libraryFiles(root: string): readonly ArchiveEntry[] {
  const found = globSync(['lib*/**', 'usr/lib/*-linux-gnu/*'], { cwd: root }).filter((path) =>
    libraries.test(`/${path}`),
  );
  return found.sort().map((path) => ({
    // Debian's /lib and /lib64 are links to directories in /usr; here they are directories.
    path: path.replace(/^usr\//, ''),
    content: readFileSync(resolveIn(root, path)),
    executable: /\/ld-linux/.test(path),
  }));
}

/** The file that a path of a package leads to. Absolute links are below the root of the image. */
function resolveIn(root: string, path: string): string {
  const file = join(root, path);
  if (!file.startsWith(`${root}/`)) throw new Error(`a link leads out of its package: ${path}`);
  if (!lstatSync(file).isSymbolicLink()) return file;
  const target = readlinkSync(file);
  return resolveIn(root, isAbsolute(target) ? target : join(dirname(path), target));
}

function certificates(root: string): ArchiveEntry {
  const folder = join(root, 'usr/share/ca-certificates/mozilla');
  const files = readdirSync(folder).sort();
  const content = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
  return { path: 'etc/ssl/certs/ca-certificates.crt', content };
}

function copyrights(root: string): readonly ArchiveEntry[] {
  return packages.flatMap((name) =>
    globSync(`usr/share/doc/${name}/copyright`, { cwd: root }).map((path) => ({
      path,
      content: readFileSync(resolveIn(root, path)),
    })),
  );
}

function accountFiles(): readonly ArchiveEntry[] {
  const { name, id } = user;
  const text = (path: string, content: string) => ({ path, content: Buffer.from(content) });
  return [
    text(
      'etc/passwd',
      `root:x:0:0:root:/root:/sbin/nologin\n${name}:x:${id}:${id}:${name}:/home/${name}:/sbin/nologin\n`,
    ),
    text('etc/group', `root:x:0:\n${name}:x:${id}:\n`),
    text('etc/nsswitch.conf', 'hosts: files dns\n'),
    text('tmp/.keep', ''),
  ];
}

function component({ path, name, version }: Deb, architecture: Architecture): OtherComponent {
  const qualifier = basename(path).endsWith('_all.deb') ? 'all' : architecture;
  return {
    name,
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${qualifier}`,
    sha256: sha256(readFileSync(path)),
  };
}
