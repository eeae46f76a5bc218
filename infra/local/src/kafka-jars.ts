import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from './cache-directory.ts';
import { LocalError } from './local-error.ts';

/** The version that pom.xml pins. */
export const KAFKA_VERSION = '4.3.1';

/** The folder of pom.xml and sha256sums. */
const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'kafka');
const OLDEST_JAVA = 17;
/** Pinned too, so that it does not depend on the age of Maven. */
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/**
 * The folder with the broker's jars: fetched by Maven at the first call (44 MB), from where this machine's settings say,
 * each checked against sha256sums; taken from the cache afterwards.
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
  say(`fetching Kafka ${KAFKA_VERSION} (once, 44 MB)`);
  // Fetched aside and renamed: an interrupted download leaves nothing that looks finished, and two don't mix.
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const pom = join(FOLDER, 'pom.xml');
    const options = ['-B', '-q', '-f', pom, COPY, '-DincludeScope=runtime', `-DoutputDirectory=${unfinished}`];
    const { status, output } = await run('mvn', options, () => {
      const hint = 'install it (Debian: apt-get install maven) and see that "mvn" is on the PATH';
      return new LocalError('maven-missing', `Kafka is fetched with Maven: ${hint}`);
    });
    if (status !== 0) throw new LocalError('download-failed', `Maven could not fetch Kafka:\n\n${output.trim()}`);
    checkSums(unfinished);
    try {
      renameSync(unfinished, directory);
    } catch (error) {
      // Another process was quicker with the same jars.
      if (!existsSync(directory)) throw error;
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Exactly the listed jars, each with the listed content. */
function checkSums(directory: string): void {
  const expected = readFileSync(join(FOLDER, 'sha256sums'), 'utf8').trimEnd().split('\n');
  const found = readdirSync(directory).map((name) => {
    const sum = createHash('sha256').update(readFileSync(join(directory, name)));
    return `${sum.digest('hex')}  ${name}`;
  });
  const wrong = [...new Set(expected).symmetricDifference(new Set(found))].map((line) => line.slice(66));
  if (wrong.length > 0) {
    const names = [...new Set(wrong)].join(', ');
    throw new LocalError(
      'download-failed',
      `what Maven fetched is not what infra/local/kafka/sha256sums lists: ${names}`,
    );
  }
}

async function checkJava(): Promise<void> {
  const hint = `install Java ${OLDEST_JAVA} or newer (Debian: apt-get install openjdk-17-jre-headless) and see that "java" is on the PATH`;
  const { output } = await run(
    'java',
    ['-version'],
    () => new LocalError('java-missing', `Kafka runs on Java: ${hint}`),
  );
  const major = Number(/version "(\d+)/.exec(output)?.[1]);
  if (!(major >= OLDEST_JAVA)) throw new LocalError('java-too-old', `${output.trim()}\n${hint}`);
}

/** Runs a program to its end; `missing` makes the error when there is none. */
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
