import { formatTable } from '@sluice/platform/process';
import { limitText } from '../../page/limit-text.ts';
import type { ServiceList } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

/** Services, one line each. `servicesLimit`: if further ones have no history. */
export function listServices({ items, total }: ServiceList, format: TextFormat, servicesLimit?: number): string {
  const limit = servicesLimit === undefined ? '' : wrapIndented('', limitText(servicesLimit), format);
  if (items.length === 0) return `No such Service.\n${limit}`;
  const table = formatTable(
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'STATUS', 'READY', 'SLICES', 'REASON'],
    items.map(({ clusterName, namespace, name, status, ready, endpoints, terminating, slices, reason }) => [
      ...[clusterName, namespace, name, status, `${ready}/${endpoints - terminating}`, String(slices), reason],
    ]),
    format.width,
  );
  const rest = total > items.length ? `Showing ${items.length} of ${total} Services.\n` : '';
  return `${table}${rest}${limit}`;
}
