import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { HistoryView } from '../../src/view/schemas.ts';
import { duration, plural, timeOfDay } from '../format.ts';
import { html } from '../html.ts';
import { wholeMs } from '../router.ts';
import { LatencyBar } from './latency-bar.ts';
import { Empty } from './notice.ts';
import { TraceLink, type TracePlaces } from './trace-link.ts';

type Entry = HistoryView['entries'][number];
type Done = Extract<Entry, { kind: 'done' }>;
type Seen = Extract<Entry, { kind: 'seen' }>;
type Decided = Extract<Entry, { kind: 'decided' }>;

interface TimelineProps {
  readonly entries: readonly Entry[];
  /** Only what concerns this Pod; empty: everything. */
  readonly pod: string;
  readonly at: number | undefined;
  readonly travel: (at: number | undefined) => void;
  readonly traces: TracePlaces;
}

const pageSize = 150;

/** What was seen, decided and done, newest first. A plan stands with what became of it. */
export function Timeline({ entries, pod, at, travel, traces }: TimelineProps) {
  const [shown, setShown] = useState(pageSize);
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    if (list.current !== null && at !== undefined) revealCurrent(list.current);
  }, [at]);
  const done = new Set(entries.filter((entry) => entry.kind === 'done').map(planOf));
  const lines = entries
    .filter((entry) => pod === '' || concerns(entry, pod))
    .filter((entry) => entry.kind !== 'decided' || !done.has(planOf(entry)))
    .toReversed();
  if (lines.length === 0)
    return html`<${Empty} title="Nothing is kept">${pod ? `of ${pod}` : 'New entries appear here.'}<//>`;
  const current = at === undefined ? -1 : lines.findIndex((entry) => wholeMs(entry.at) <= at);
  const count = Math.max(shown, current + 10);
  const keys = keysOf(lines);
  const line = (entry: Entry, index: number) => {
    const props = {
      key: keys[index],
      place: current < 0 || index > current ? '' : index === current ? 'current' : 'later',
      open: () => travel(entry.at),
      traces,
    };
    if (entry.kind === 'seen') return html`<${SeenLine} entry=${entry} pod=${pod} ...${props} />`;
    if (entry.kind === 'decided') return html`<${DecidedLine} entry=${entry} ...${props} />`;
    return html`<${DoneLine} entry=${entry} plan=${decidedOf(entries, entry)} pod=${pod} ...${props} />`;
  };
  return html`<ol class="timeline" ref=${list}>
    ${lines.slice(0, count).map(line)}
    ${
      lines.length > count &&
      html`<li key="more" class="further"><button class="more" onClick=${() => setShown(count + pageSize)}>
        ${plural(lines.length - count, 'earlier entry', 'earlier entries')}
      </button></li>`
    }
  </ol>`;
}

/** The same for the same entry, whatever comes before or after it, so that a line stays what it is while one reads it. */
function keysOf(lines: readonly Entry[]): string[] {
  const counts = new Map<string, number>();
  return lines
    .toReversed()
    .map((entry) => {
      const name = `${entry.kind} ${entry.at} ${planOf(entry)}`;
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return `${name} ${count}`;
    })
    .toReversed();
}

/** Scrolls the list, and nothing around it, to the entry whose moment is shown. */
function revealCurrent(list: HTMLElement): void {
  const line = list.querySelector('.current');
  if (line === null) return;
  const [box, own] = [list.getBoundingClientRect(), line.getBoundingClientRect()];
  if (own.top < box.top || own.bottom > box.bottom) list.scrollTop += own.top - box.top - box.height / 3;
}

const planOf = (entry: Entry): string =>
  entry.kind === 'seen' ? '' : `${entry.controller} ${entry.plan.epoch} ${entry.plan.number}`;

function decidedOf(entries: readonly Entry[], done: Done): Decided | undefined {
  return entries.find((entry): entry is Decided => entry.kind === 'decided' && planOf(entry) === planOf(done));
}

function concerns(entry: Entry, pod: string): boolean {
  switch (entry.kind) {
    case 'seen':
      return entry.news.some(({ of, name }) => of === 'pod' && name === pod);
    case 'decided':
      return entry.mutations.some(({ endpoints }) => endpoints.some((change) => change.pod === pod));
    case 'done':
      return entry.endpoints.some((change) => change.pod === pod);
  }
}

interface LineProps {
  /** `current`: the last before the moment that is shown; `later`: after it. */
  readonly place: string;
  readonly open: () => void;
  readonly traces: TracePlaces;
}

function Time({ at, open }: { at: number; open: () => void }) {
  return html`<button class="time" onClick=${open} title="show how it was then">${timeOfDay(at)}</button>`;
}

function SeenLine({ entry, pod, place, open, traces }: LineProps & { entry: Seen; pod: string }) {
  const news = pod === '' ? entry.news : entry.news.filter(({ name }) => name === pod);
  return html`<li class=${`seen ${place}`}>
    <${Time} at=${entry.at} open=${open} />
    <div>
      ${news.slice(0, 6).map(({ of, name, what }) => html`<p><b>${label(of)}</b>${name && ` ${name}`} ${what}</p>`)}
      ${news.length > 6 && html`<p class="faint">and ${news.length - 6} more</p>`}
    </div>
    <${TraceLink} of=${entry} traces=${traces} />
  </li>`;
}

const labels: Readonly<Record<string, string>> = {
  service: 'Service',
  pod: 'Pod',
  slice: 'EndpointSlice',
  endpoints: 'Endpoints',
  topology: 'Nodes:',
};
const label = (of: string): string => labels[of] ?? of;

function DecidedLine({ entry, place, open, traces }: LineProps & { entry: Decided }) {
  return html`<li class=${`decided ${place}`}>
    <${Time} at=${entry.at} open=${open} />
    <div><p>${entry.controller}: ${plural(entry.mutations.length, 'write')} on the way</p>
      ${entry.incomplete.map((why) => html`<p class="faint">${why}</p>`)}</div>
    <${TraceLink} of=${entry} traces=${traces} />
  </li>`;
}

function DoneLine({
  entry,
  plan,
  pod,
  place,
  open,
  traces,
}: LineProps & { entry: Done; plan: Decided | undefined; pod: string }) {
  const [more, setMore] = useState(false);
  const changes = pod === '' ? entry.endpoints : entry.endpoints.filter((change) => change.pod === pod);
  const bad = entry.status !== 'applied';
  const [first] = entry.causes.first;
  return html`<li class=${`done ${bad ? 'bad' : ''} ${place}`}>
    <${Time} at=${entry.at} open=${open} />
    <div>
      <p>
        <b>${entry.controller === 'endpoints' ? 'Endpoints' : 'Slices'}</b> ${writesText(entry)}
        ${entry.retries > 0 && html`<span class="tag">${plural(entry.retries, 'retry', 'retries')}</span>`}
        ${bad && html`<span class="tag bad">${entry.status}</span>`}
      </p>
      ${bad && html`<p class="bad">${entry.message}</p>`}
      ${changes.slice(0, more ? undefined : 4).map((change) => html`<${Change} change=${change} />`)}
      ${changes.length > 4 && html`<button class="more" onClick=${() => setMore(!more)}>${more ? 'fewer' : `${changes.length - 4} more`}</button>`}
      ${first && html`<p class="faint">because ${first.description}${entry.causes.first.length + entry.causes.more > 1 && ` and ${entry.causes.first.length + entry.causes.more - 1} more`}</p>`}
      ${plan?.incomplete.map((why) => html`<p class="faint">${why}</p>`)}
      ${entry.latencyMs !== null && html`<${Phases} total=${entry.latencyMs} apply=${entry.applyMs} />`}
    </div>
    <${LatencyBar} ms=${entry.latencyMs} />
    <${TraceLink} of=${entry} traces=${traces} />
  </li>`;
}

/** From what was seen to the decision, and from there to the API server's last answer. */
function Phases({ total, apply }: { total: number; apply: number }) {
  const before = Math.max(0, total - apply);
  const share = total === 0 ? 0.5 : before / total;
  return html`<span class="phases" title=${`${before} ms until it was decided, ${apply} ms until it was written`}>
    <i style=${{ width: `${share * 100}%` }}></i><i style=${{ width: `${(1 - share) * 100}%` }}></i>
    <small>decide ${duration(before)} · write ${duration(apply)}</small>
  </span>`;
}

/** `updated`, `2 created, 1 updated`, `not created` */
function writesText({ writes }: Done): string {
  if (writes.length === 0) return 'nothing was written';
  const results = Map.groupBy(writes, ({ verb, ok }) => `${ok ? '' : 'not '}${verb}d`);
  return [...results].map(([result, { length }]) => (writes.length === 1 ? result : `${length} ${result}`)).join(', ');
}

function Change({ change }: { change: Done['endpoints'][number] }) {
  const { what, pod, addresses, before, after } = change;
  const sign = { added: '+', removed: '−', changed: '~' }[what];
  return html`<p class=${`change ${what}`}><b>${sign}</b> ${pod || addresses.join(', ')} <small>${difference(before, after)}</small></p>`;
}

type Face = Done['endpoints'][number]['after'];

function difference(before: Face, after: Face): string {
  if (after === null) return before?.ready ? 'was ready' : '';
  if (before === null) return after.ready ? 'ready' : 'not ready';
  const words: string[] = [];
  if (before.ready !== after.ready) words.push(after.ready ? 'ready now' : 'not ready any more');
  if (before.terminating !== after.terminating) words.push('terminating');
  else if (before.serving !== after.serving && before.ready === after.ready)
    words.push(after.serving ? 'serving' : 'not serving');
  if (before.zone !== after.zone) words.push(`zone ${after.zone || 'unknown'}`);
  if (before.hints.join() !== after.hints.join())
    words.push(after.hints.length === 0 ? 'without hints' : `hinted to ${after.hints.join(', ')}`);
  return words.join(', ');
}
