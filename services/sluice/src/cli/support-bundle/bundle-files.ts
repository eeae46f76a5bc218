import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { FleetSources } from '@sluice/console';
import type { OpenInfrastructure } from '@sluice/fleet/roles';
import { type Clock, errorMessage, type Logger, redact } from '@sluice/platform';
import { tarGz, under } from '@sluice/platform/archive';
import { printable, UsageError } from '@sluice/platform/process';

/** A text file of the bundle. */
export interface BundleFile {
  readonly path: string;
  readonly text: string;
}

/** A tar.gz of the files in one folder, with all secrets removed from their text and paths. */
export function packBundle(
  files: readonly BundleFile[],
  { folder, secrets, now }: { readonly folder: string; readonly secrets: readonly string[]; readonly now: number },
): Buffer {
  const entries = files.map(({ path, text }) => ({
    path: printable(redact(path, secrets)),
    content: Buffer.from(printable(redact(text, secrets))),
  }));
  return tarGz(under(folder, entries), Math.floor(now / 1_000));
}

/** Clusters, partitions, parked Services and dead letters of a fleet; dead letters without their content. */
export async function readFleet(
  fleet: Omit<OpenInfrastructure, 'generation' | 'document' | 'intended' | 'openLogs'>,
  ports: { readonly clock: Clock; readonly logger: Logger },
): Promise<readonly BundleFile[]> {
  const sources = new FleetSources(fleet, ports);
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    clusters: async () => {
      await sources.readClusters();
      return sources.clusters();
    },
    partitions: sources.partitions,
    parked: sources.parked,
    'dead-letters': sources.deadLetters,
    'store-problems': async () => sources.storeProblems(),
  };
  const files: BundleFile[] = [];
  // In this order: dead letters name their clusters.
  for (const [name, read] of Object.entries(reads)) {
    const content = await read().catch((error: unknown) => ({ error: errorMessage(error) }));
    files.push({ path: `fleet/${name}.json`, text: `${JSON.stringify(content, undefined, 2)}\n` });
  }
  return files;
}

/** What each process serves beside its work. */
const endpoints = [
  { path: '/livez?verbose', file: 'livez.txt' },
  { path: '/readyz?verbose', file: 'readyz.txt' },
  { path: '/metrics', file: 'metrics.txt' },
] as const;

const timeoutMs = 10_000;

/** Metrics and health of the process at this address; a file with the reason for each that cannot be read. */
export function readProcess(url: string): Promise<readonly BundleFile[]> {
  const folder = `processes/${new URL(url).host.replace(/[^\w.-]/g, '_')}`;
  return Promise.all(
    endpoints.map(async ({ path, file }) => ({ path: `${folder}/${file}`, text: await read(new URL(path, url)) })),
  );
}

async function read(address: URL): Promise<string> {
  try {
    const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    return `# ${address.pathname}: HTTP status ${response.status}\n${await response.text()}`;
  } catch (error) {
    return `# ${address.pathname}: ${reasonOf(error)}\n`;
  }
}

/** fetch says only that it failed, and why in `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorMessage(cause ?? error);
}

/** The end of a log is what matters. */
const maxLogBytes = 16 * 1024 * 1024;

/** The last bytes of a log file, from the beginning of a line. Throws UsageError if it cannot be read. */
export function readLog(file: string, index: number): BundleFile {
  const path = `logs/${index}-${basename(file)}`;
  try {
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const buffer = Buffer.alloc(Math.min(size, maxLogBytes));
      const read = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
      const text = buffer.toString('utf8', 0, read);
      return { path, text: size > maxLogBytes ? text.slice(text.indexOf('\n') + 1) : text };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new UsageError(`--log: ${errorMessage(error)}`);
  }
}
