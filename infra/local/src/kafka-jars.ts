import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from './cache-directory.ts';
import { LocalError } from './local-error.ts';

/** The version that pom.xml pins. */
export const KAFKA_VERSION = '4.3.1';

/** The folder with pom.xml and sha256sums. */
const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'kafka');
const OLDEST_JAVA = 17;
/** Pinned, so that it does not depend on the Maven version. */
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/**
 * Returns the folder with the jars of the broker. The first call downloads them with Maven (44 MB), from the repositories in
 * the user's Maven settings, and checks them against sha256sums; later calls use the cached jars.
 *
 * @throws LocalError `java-missing`, `java-too-old`, `maven-missing` or `download-failed`
 */
export async function ensureKafkaJars(say: (line: string) => void = () => {}): Promise<string> {
  await checkJava();
  const fingerprint = createHash('sha256');
  for (const file of ['pom.xml', 'sha256sums']) fingerprint.update(readFileSync(join(FOLDER, file)));
  const directory = join(cacheDirectory(), 'kafka', fingerprint.digest('hex').slice(0, 16));
  if (!existsSync(directory)) await download(directory, say);
  return directory;
}

async function download(directory: string, say: (line: string) => void): Promise<void> {
  say(`downloading Kafka ${KAFKA_VERSION} (once, 44 MB)`);
  // Download elsewhere and rename, so that an interrupted download is not taken for a complete one.
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const pom = join(FOLDER, 'pom.xml');
    const options = ['-B', '-q', '-f', pom, COPY, '-DincludeScope=runtime', `-DoutputDirectory=${unfinished}`];
    const { status, output } = await run('mvn', options, () => {
      const hint = 'install it (Debian: apt-get install maven) and make sure that "mvn" is on the PATH';
      return new LocalError('maven-missing', `Maven is required to download Kafka: ${hint}`);
    });
    if (status !== 0) throw new LocalError('download-failed', `Maven cannot download Kafka:\n\n${output.trim()}`);
    verifyChecksums(unfinished);
    try {
      renameSync(unfinished, directory);
    } catch (error) {
      // Another process has downloaded the same jars meanwhile.
      if (!existsSync(directory)) throw error;
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Requires exactly the listed jars with the listed checksums. */
function verifyChecksums(directory: string): void {
  const listed = readFileSync(join(FOLDER, 'sha256sums'), 'utf8').trimEnd().split('\n');
  const found = readdirSync(directory).map((name) => {
    const sum = createHash('sha256').update(readFileSync(join(directory, name)));
    return `${sum.digest('hex')}  ${name}`;
  });
  const different = [...new Set(listed).symmetricDifference(new Set(found))].map((line) => line.slice(66));
  if (different.length > 0) {
    const names = [...new Set(different)].join(', ');
    throw new LocalError(
      'download-failed',
      `the files that Maven downloaded differ from infra/local/kafka/sha256sums: ${names}`,
    );
  }
}

async function checkJava(): Promise<void> {
  const hint = `install Java ${OLDEST_JAVA} or newer (Debian: apt-get install openjdk-17-jre-headless) and make sure that "java" is on the PATH`;
  const { output } = await run(
    'java',
    ['-version'],
    () => new LocalError('java-missing', `Java is required to run Kafka: ${hint}`),
  );
  const major = Number(/version "(\d+)/.exec(output)?.[1]);
  if (!(major >= OLDEST_JAVA)) throw new LocalError('java-too-old', `${output.trim()}\n${hint}`);
}

/** Runs a program and returns its exit status and output. `missing` creates the error if it cannot be started. */
export function run(
  program: string,
  args: readonly string[],
  missing: () => LocalError,
): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(program, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', () => reject(missing()));
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}
