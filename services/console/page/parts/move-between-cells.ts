const directions: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Arrow keys move the focus to the nearest cell in their direction. Cells have `data-row` and `data-column`. */
export function moveBetweenCells(event: KeyboardEvent): void {
  const [rows, columns] = directions[event.key] ?? [0, 0];
  const from = placeOf(event.target);
  if (from === undefined || (rows === 0 && columns === 0)) return;
  event.preventDefault();
  const places = Array.from((event.currentTarget as Element).querySelectorAll('[data-row]'), placeOf);
  const distance = ({ row, column }: Place) => Math.abs(row - from.row) * 1_000 + Math.abs(column - from.column);
  const isAhead = ({ row, column }: Place) =>
    rows === 0 ? row === from.row && (column - from.column) * columns > 0 : (row - from.row) * rows > 0;
  const [next] = places
    .filter((place) => place !== undefined)
    .filter(isAhead)
    .sort((a, b) => distance(a) - distance(b));
  next?.element.focus();
}

interface Place {
  readonly element: HTMLElement;
  readonly row: number;
  readonly column: number;
}

function placeOf(element: unknown): Place | undefined {
  if (!(element instanceof HTMLElement) || element.dataset.row === undefined) return undefined;
  return { element, row: Number(element.dataset.row), column: Number(element.dataset.column) };
}
