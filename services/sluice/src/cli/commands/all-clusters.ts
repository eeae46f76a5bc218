import type { LogicalServiceDetail } from '@sluice/console';
import type { ConsoleClient, HistoryEntry } from '@sluice/console/client';
import {
  lostText,
  parseServiceName,
  printEntry,
  printLogicalService,
  type TextFormat,
  wrapIndented,
} from '@sluice/console/terminal';

/** A Service in all clusters, and how its answers are printed. */
interface Question {
  readonly client: ConsoleClient;
  /** NAMESPACE/SERVICE. */
  readonly service: string;
  readonly output: 'text' | 'json';
  readonly format: TextFormat;
}

/** How a Service is served over all clusters. */
export async function explainInAllClusters({ client, service, output, format }: Question): Promise<string> {
  const detail = await client.logicalService(parseServiceName(service));
  return output === 'json' ? `${JSON.stringify(detail)}\n` : printLogicalService(detail, format);
}

interface Period {
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly pod: string | undefined;
}

type EntryOfCluster = HistoryEntry & { readonly cluster: string; readonly clusterName: string };

/** The histories of a Service in all clusters, on one time axis. */
export async function historyInAllClusters(
  { client, service, output, format }: Question,
  { since, until, pod }: Period,
): Promise<string> {
  const detail = await client.logicalService(parseServiceName(service));
  const entries: EntryOfCluster[] = [];
  const notes = lostClusters(detail, format);
  // One after the other, because a console answers few requests at a time.
  for (const { cluster, clusterName, name } of detail.clusters) {
    const member = { cluster, namespace: detail.namespace, service: name };
    const view = await client.history(member, { since, until, pod, limit: entriesPerCluster });
    if (view.total > view.entries.length)
      notes.push(`${clusterName}: the last ${view.entries.length} of ${view.total} entries`);
    for (const entry of view.entries) entries.push({ ...entry, cluster, clusterName });
  }
  entries.sort((a, b) => a.at - b.at);
  if (output === 'json') return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  const width = Math.max(0, ...entries.map(({ clusterName }) => clusterName.length));
  const printed = entries.map((entry) => printEntry(entry, format, entry.clusterName.padEnd(width)));
  if (printed.length === 0) printed.push('No entries in this period.\n');
  return [...notes.map((note) => wrapIndented('', note, format)), ...printed].join('');
}

const entriesPerCluster = 1_000;

function lostClusters({ clusters }: LogicalServiceDetail, format: TextFormat): string[] {
  return clusters.flatMap(({ clusterName, ageMs, lostReason }) =>
    ageMs === null || lostReason === null
      ? []
      : [lostText(clusterName, { since: format.now - ageMs, reason: lostReason }, format)],
  );
}
