import type { ApiClient } from './api-client.ts';

/** Requests that write, counted by what they do and to what: `update endpointslices`, `create events (409)`. */
export type WriteCounts = Readonly<Record<string, number>>;

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
/** What the controllers write; Pods are the bench's own, leases the API server's. */
const RESOURCES = new Set(['endpoints', 'endpointslices', 'events']);

/** Writes since the API server's start. Asking costs it some CPU time: ask outside of what is measured. */
export async function readWriteCounts(client: ApiClient): Promise<WriteCounts> {
  return parseWriteCounts((await client.get('/metrics')).body);
}

/** Reads `apiserver_request_total`. Requests that failed have their status behind them. */
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
