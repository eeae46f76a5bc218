import { formatTable } from '@sluice/platform/process';
import type { ServiceList } from '../view/schemas.ts';
import type { TextFormat } from './text.ts';

/** Services, one line each. */
export function listServices({ items, total }: ServiceList, { width }: Pick<TextFormat, 'width'>): string {
  if (items.length === 0) return 'No such Service.\n';
  const table = formatTable(
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'STATUS', 'READY', 'SLICES', 'REASON'],
    items.map(({ clusterName, namespace, name, status, ready, endpoints, terminating, slices, reason }) => [
      ...[clusterName, namespace, name, status, `${ready}/${endpoints - terminating}`, String(slices), reason],
    ]),
    width,
  );
  return total > items.length ? `${table}Showing ${items.length} of ${total} Services.\n` : table;
}
