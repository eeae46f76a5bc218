/** Builds or verifies a release. See `--help`. */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { runCommand, say, text, textOr } from '@sluice/program';
import { buildRelease } from './build.ts';
import { changelogEntries, changelogProblems } from './changelog.ts';
import { newSigningKey, problemsOf } from './checksums.ts';
import type { Architecture } from './oci.ts';

const root = join(import.meta.dirname, '../..');
const architectures: readonly Architecture[] = ['amd64', 'arm64'];

function signingKey(file: string): KeyObject {
  if (!existsSync(file)) {
    writeFileSync(file, newSigningKey().privateKey, { mode: 0o600 });
    say(`created the signing key ${file}; keep it secret`);
  }
  return createPrivateKey(readFileSync(file));
}

/** SOURCE_DATE_EPOCH, or the time of the commit. */
function sourceDate(): number {
  const given = process.env.SOURCE_DATE_EPOCH || execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root });
  const seconds = Number(given.toString());
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new UsageError(`SOURCE_DATE_EPOCH is ${given}; expected seconds`);
  return seconds;
}

function architecturesOf(text: string): readonly Architecture[] {
  const chosen = architectures.filter((one) => text.split(',').includes(one));
  if (chosen.length !== text.split(',').length)
    throw new UsageError(`--arch is ${text}; expected amd64,arm64 or one of them`);
  return chosen;
}

async function build(values: { key?: string | undefined; 'base-url'?: string | undefined; arch: string }) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const problems = changelogProblems(changelog, version);
  if (problems.length > 0) throw new UsageError(`CHANGELOG.md: ${problems.join('; ')}`);
  if (values.key !== undefined && changelogEntries(changelog)[0]?.date === 'unreleased') {
    throw new UsageError(`CHANGELOG.md says that ${version} is unreleased; set its date before you sign the release`);
  }
  const files = await buildRelease({
    ...{ root, version, createdAt: sourceDate(), architectures: architecturesOf(values.arch) },
    cache: join(root, '.cache/release'),
    ...(values.key !== undefined && { key: signingKey(values.key) }),
    ...(values['base-url'] !== undefined && { baseUrl: values['base-url'] }),
    report: say,
  });
  const output = join(root, 'dist', `sluice-${version}`);
  rmSync(output, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(output, path)), { recursive: true });
    writeFileSync(join(output, path), content);
  }
  if (values.key === undefined) say('the release is not signed; pass --key FILE to sign it');
  process.stdout.write(`${output}\n`);
  return 0;
}

function check(directory: string, publicKeyFile: string | undefined): number {
  if (publicKeyFile === undefined)
    throw new UsageError('--verify needs the key of the publisher: pass --public-key FILE');
  const own = new Set(['SHA256SUMS', 'SHA256SUMS.sig', 'sluice.pub']);
  const paths = globSync('**/*', { cwd: directory }).filter((path) => statSync(join(directory, path)).isFile());
  const files = new Map(
    paths.filter((path) => !own.has(path)).map((path) => [path, readFileSync(join(directory, path))]),
  );
  const text = (name: string) => readFileSync(join(directory, name), 'utf8');
  const publicKey = createPublicKey(readFileSync(publicKeyFile));
  const problems = problemsOf(files, { sums: text('SHA256SUMS'), signed: text('SHA256SUMS.sig'), publicKey });
  for (const problem of problems) say(problem);
  if (problems.length === 0) process.stdout.write(`${files.size} files verified\n`);
  return problems.length === 0 ? 0 : 1;
}

await runCommand({
  usage: 'npm run release --',
  about: 'Builds the release of this checkout into dist/sluice-VERSION, without Docker.\n',
  options: {
    key: text('FILE', 'signs the checksums with this Ed25519 key in PEM; it is created if it does not exist'),
    'base-url': text('URL', 'where the archives will be published, for the Krew manifest'),
    arch: textOr(architectures.join(','), 'LIST', 'processor architectures'),
    verify: text('DIR', 'checks a release instead: its signature, with --public-key, and its checksums'),
    'public-key': text('FILE', 'public key of the publisher'),
  },
  main: (values) => (values.verify === undefined ? build(values) : check(values.verify, values['public-key'])),
});
