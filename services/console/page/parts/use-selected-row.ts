import { useState } from 'preact/hooks';
import { useKeys } from '../keys.ts';

/** The row that keys select and open; -1: none. */
export function useSelectedRow(
  count: number,
  open: (index: number) => void,
): readonly [selected: number, select: (index: number) => void] {
  const [selected, select] = useState(-1);
  const move = (by: number) => select(Math.min(count - 1, Math.max(0, selected + by)));
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => open(selected),
  });
  return [selected, select];
}
