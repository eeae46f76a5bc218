import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from '../html.ts';

interface VirtualRowsProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly row: (index: number) => VNode;
  /** Scrolled into view. Default: none. */
  readonly selected?: number;
  /** ARIA role of the list. Default: part of a table. */
  readonly role?: string;
  /** Called with the range of rendered rows. */
  readonly onRange?: (first: number, last: number) => void;
}

/** Rows rendered above and below the visible ones. */
const overscan = 8;

/** A scrollable list that renders only the visible rows. */
export function VirtualRows({ count, rowHeight, row, selected = -1, role = 'rowgroup', onRange }: VirtualRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setWindow({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || selected < 0) return;
    const top = selected * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [selected, rowHeight]);
  const first = Math.max(0, Math.floor(window.top / rowHeight) - overscan);
  const last = Math.min(count, Math.ceil((window.top + window.height) / rowHeight) + overscan);
  useEffect(() => onRange?.(first, last), [first, last, count]);
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, i) => row(first + i));
  return html`<div class="rows" ref=${box} role=${role}>
    <div style=${{ height: `${count * rowHeight}px` }}>
      <div style=${{ transform: `translateY(${first * rowHeight}px)` }}>${rows}</div>
    </div>
  </div>`;
}
