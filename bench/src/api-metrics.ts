import type { ApiClient } from './api-client.ts';

/** Write requests by verb, resource and failure code: `update endpointslices`, `create events (409)`. */
export type WriteCounts = Readonly<Record<string, number>>;

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
/** Resources that the controllers write. The bench writes Pods, and the API server leases. */
const RESOURCES = new Set(['endpoints', 'endpointslices', 'events']);

/** Write requests since the API server started. Scraping costs CPU time, so call this outside of measured spans. */
export async function readWriteCounts(client: ApiClient): Promise<WriteCounts> {
  return parseWriteCounts((await client.get('/metrics')).body);
}

/** Parses `apiserver_request_total`. Failed requests carry their status code. */
export function parseWriteCounts(text: string): WriteCounts {
  const counts: Record<string, number> = {};
  for (const [, labels = '', value] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const verb = VERBS[label('verb')];
    const resource = label('resource');
    if (verb === undefined || !RESOURCES.has(resource)) continue;
    const code = label('code');
    const what = `${verb} ${resource}${code.startsWith('2') ? '' : ` (${code})`}`;
    counts[what] = (counts[what] ?? 0) + Number(value);
  }
  return counts;
}

export function writesBetween(before: WriteCounts, after: WriteCounts): WriteCounts {
  const changed = Object.entries(after).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, count]) => count > 0).sort());
}

export function totalWrites(counts: WriteCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
