import { useState } from 'preact/hooks';
import { html } from '../html.ts';
import { type Column, nextOrder, type Order, sortItems } from './sort-items.ts';

interface SortableTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** In the order of the answer, until somebody chooses another. */
  readonly items: readonly T[];
  readonly row: (item: T) => unknown;
}

/** A table that is sorted by clicking a column. */
export function SortableTable<T>({ label, columns, items, row }: SortableTableProps<T>) {
  const [order, setOrder] = useState<Order>();
  const heading = ({ name }: Column<T>, column: number) => {
    const sorted = order?.column !== column ? undefined : order.isDescending ? 'descending' : 'ascending';
    return html`<th scope="col" aria-sort=${sorted}>
      <button title=${`sort by ${name}`} onClick=${() => setOrder(nextOrder(items, columns, column, order))}>
        ${name}<i aria-hidden="true">${sorted === undefined ? '' : sorted === 'descending' ? ' ▾' : ' ▴'}</i>
      </button>
    </th>`;
  };
  return html`<div class="scroll"><table aria-label=${label}>
    <thead><tr>${columns.map(heading)}</tr></thead>
    <tbody>${sortItems(items, columns, order).map(row)}</tbody>
  </table></div>`;
}
