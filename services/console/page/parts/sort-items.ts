/** What a column shows of an item, as a value that sorts. */
export interface Column<T> {
  readonly name: string;
  readonly value: (item: T) => number | string;
}

export interface Order {
  /** Index of the column. */
  readonly column: number;
  readonly isDescending: boolean;
}

/** Undefined: in the order of the answer. */
export function sortItems<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  order: Order | undefined,
): readonly T[] {
  const value = order && columns[order.column]?.value;
  if (value === undefined) return items;
  const sign = order?.isDescending ? -1 : 1;
  return items.toSorted((a, b) => sign * compare(value(a), value(b)));
}

/** A column is sorted, then in reverse, then no longer. Numbers begin with the largest. */
export function nextOrder<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  column: number,
  order: Order | undefined,
): Order | undefined {
  const [first] = items;
  const isDescending = first !== undefined && typeof columns[column]?.value(first) === 'number';
  if (order?.column !== column) return { column, isDescending };
  return order.isDescending === isDescending ? { column, isDescending: !isDescending } : undefined;
}

const compare = (a: number | string, b: number | string): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
