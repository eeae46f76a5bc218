interface Group {
  readonly total: number;
}

/** Where headings and items are in a list of rows. */
export interface GroupedRows<G> {
  readonly count: number;
  /** The group whose heading the row is, or the index of an item. */
  readonly at: (row: number) => G | number;
  /** Number of items above a row. */
  readonly itemsAbove: (row: number) => number;
  /** The row of an item; -1 stays. */
  readonly rowOf: (index: number) => number;
}

/** A heading above the items of each group; none if there are no groups. */
export function groupedRows<G extends Group>(items: number, groups: readonly G[]): GroupedRows<G> {
  const headings: { readonly group: G; readonly row: number; readonly first: number }[] = [];
  let first = 0;
  for (const group of groups) {
    headings.push({ group, row: first + headings.length, first });
    first += group.total;
  }
  const itemsAbove = (row: number) => row - headings.findLastIndex((heading) => heading.row < row) - 1;
  return {
    count: items + groups.length,
    at: (row) => headings.find((heading) => heading.row === row)?.group ?? itemsAbove(row),
    itemsAbove,
    rowOf: (index) => index + headings.findLastIndex((heading) => heading.first <= index) + 1,
  };
}
