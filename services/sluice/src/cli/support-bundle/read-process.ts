import { errorMessage } from '@sluice/runtime';
import type { BundleFile } from './support-bundle.ts';

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
