import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CompletedEntry, DecidedEntry, Entry } from '../../src/view/entry-schemas.ts';
import { concerns } from '../entry-text.ts';
import { plural } from '../format.ts';
import { html } from '../html.ts';
import { wholeMs } from '../router.ts';
import { type EntryGroup, firstAt, groupEntries, lastAt } from './group-entries.ts';
import { Empty } from './notice.ts';
import { TimelineEntry } from './timeline-entry.ts';
import type { TraceTargets } from './trace-link.ts';

interface TimelineProps {
  readonly entries: readonly Entry[];
  /** Shows only entries of this Pod; empty: all entries. */
  readonly pod: string;
  readonly at: number | undefined;
  readonly travel: (at: number | undefined) => void;
  readonly targets: TraceTargets;
}

const pageSize = 150;

/** The history, newest first. A plan is shown with its Outcome, and the write of Endpoints with that of slices. */
export function Timeline({ entries, pod, at, travel, targets }: TimelineProps) {
  const [limit, setLimit] = useState(pageSize);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || at === undefined) return;
    scrollToCurrent(element);
    // What is above may be loaded later.
    const observer = new ResizeObserver(() => scrollToCurrent(element));
    observer.observe(element);
    return () => observer.disconnect();
  }, [at]);
  const completed = new Set(entries.filter((entry) => entry.kind === 'completed').map(planOf));
  const matching = entries
    .filter((entry) => pod === '' || concerns(entry, pod))
    .filter((entry) => entry.kind !== 'decided' || !completed.has(planOf(entry)));
  const shown = groupEntries(matching).toReversed();
  if (shown.length === 0)
    return html`<${Empty} title="No entries">${pod ? `No entries of Pod ${pod}.` : 'New entries appear here.'}<//>`;
  const current = at === undefined ? -1 : shown.findIndex((group) => wholeMs(firstAt(group)) <= at);
  const count = Math.max(limit, current + 10);
  const keys = keysOf(shown);
  return html`<ol class="timeline" ref=${list}>
    ${shown.slice(0, count).map(
      (group, index) =>
        html`<${TimelineEntry}
          key=${keys[index]}
          group=${group}
          planFor=${(entry: CompletedEntry) => planFor(entries, entry)}
          pod=${pod}
          relation=${current < 0 || index > current ? '' : index === current ? 'current' : 'later'}
          open=${() => travel(lastAt(group))}
          targets=${targets}
        />`,
    )}
    ${
      shown.length > count &&
      html`<li key="more" class="further"><button class="more" onClick=${() => setLimit(count + pageSize)}>
        ${plural(shown.length - count, 'earlier entry', 'earlier entries')}
      </button></li>`
    }
  </ol>`;
}

/** Keys that stay the same when other entries are added before or after. */
function keysOf(groups: readonly EntryGroup[]): string[] {
  const counts = new Map<string, number>();
  return groups
    .toReversed()
    .map(([entry]) => {
      const name = `${entry.kind} ${entry.at} ${planOf(entry)}`;
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return `${name} ${count}`;
    })
    .toReversed();
}

/** Scrolls only the list, not the page. */
function scrollToCurrent(list: HTMLElement): void {
  const entry = list.querySelector('.current');
  if (entry === null) return;
  const [box, own] = [list.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (own.top < box.top || own.bottom > box.bottom) list.scrollTop += own.top - box.top - box.height / 3;
}

const planOf = (entry: Entry): string =>
  entry.kind === 'observed' ? '' : `${entry.controller} ${entry.plan.epoch} ${entry.plan.number}`;

function planFor(entries: readonly Entry[], completed: CompletedEntry): DecidedEntry | undefined {
  return entries.find(
    (entry): entry is DecidedEntry => entry.kind === 'decided' && planOf(entry) === planOf(completed),
  );
}
