import { useState } from 'preact/hooks';
import type {
  CompletedEntry,
  DecidedEntry,
  EndpointChange,
  ObservedEntry,
  ObservedWrite,
} from '../../src/view/entry-schemas.ts';
import { difference, isBad, isProblem, signs, subjects } from '../entry-text.ts';
import { duration, fineDuration, plural, sampledTrace, timeOfDay } from '../format.ts';
import { html } from '../html.ts';
import { slowWriteText } from '../spent-text.ts';
import { type EntryGroup, lastAt } from './group-entries.ts';
import { LatencyBar } from './status.ts';
import { TraceLink, type TraceTargets } from './trace-link.ts';

interface TimelineEntryProps {
  readonly group: EntryGroup;
  readonly planFor: (entry: CompletedEntry) => DecidedEntry | undefined;
  /** Shows only what concerns this Pod; empty: everything. */
  readonly pod: string;
  /** `current`: the last entry before the time shown; `later`: after it. */
  readonly relation: string;
  readonly open: () => void;
  readonly targets: TraceTargets;
}

const maxObservations = 6;
const maxChanges = 4;

export function TimelineEntry({ group, planFor, pod, relation, open, targets }: TimelineEntryProps) {
  const [first] = group;
  const { kind } = first;
  return html`<li class=${`${kind} ${group.some(isBad) ? 'bad' : ''} ${relation}`}>
    <button class="time" onClick=${open} title="show the state at this time">${timeOfDay(lastAt(group))}</button>
    ${group.map(
      (entry, index) => html`
        ${entry.kind === 'observed' && html`<${Observed} entry=${entry} pod=${pod} isRepeated=${index > 0} />`}
        ${entry.kind === 'decided' && html`<${Decided} entry=${entry} />`}
        ${entry.kind === 'completed' && html`<${Completed} entry=${entry} plan=${planFor(entry)} pod=${pod} isRepeated=${index > 0} />`}
        ${entry.kind === 'completed' && html`<${LatencyBar} ms=${entry.latencyMs} />`}
        <${TraceLink} of=${index > 0 && traceOf(entry) === traceOf(first) ? {} : entry} targets=${targets} />
      `,
    )}
  </li>`;
}

const traceOf = ({ traceparent }: { readonly traceparent?: string | undefined }) => sampledTrace(traceparent);

interface RepeatedProps extends Pick<TimelineEntryProps, 'pod'> {
  /** The entry above states the same cause. */
  readonly isRepeated: boolean;
}

function Observed({ entry, pod, isRepeated }: RepeatedProps & { readonly entry: ObservedEntry }) {
  const isShown = ({ name, write }: ObservedEntry['observations'][number]) =>
    pod === '' || name === pod || write?.endpoints.some((one) => one.pod === pod);
  const observations = entry.observations.filter(isShown);
  const more = observations.length - maxObservations;
  return html`<div>
    ${observations.slice(0, maxObservations).map(
      (one) =>
        html`<p class=${isProblem(one) ? 'problem' : ''}><b>${subjects[one.of]}</b>${one.name && ` ${one.name}`} ${one.text}</p>
            ${!isRepeated && html`<${Inference} write=${one.write} />`}`,
    )}
    ${more > 0 && html`<p class="faint">and ${more} more</p>`}
  </div>`;
}

/** What caused the write of another controller, as far as it can be inferred. */
function Inference({ write }: { write: ObservedWrite | undefined }) {
  if (write === undefined || write.inferredFrom === null) return null;
  const { causes, inferredFrom, latencyMs } = write;
  const why = causes.first.map(({ description }) => description).join(', ');
  const after = latencyMs === null ? '' : `, ${duration(latencyMs)} before`;
  return html`<p class="faint">${inferredFrom === 'content' ? 'because' : 'probably because'} ${why}${after}</p>`;
}

function Decided({ entry }: { entry: DecidedEntry }) {
  return html`<div>
    <p>${entry.controller}: ${plural(entry.mutations.length, 'write')} in flight</p>
    ${entry.incomplete.map((reason) => html`<p class="problem">${reason}</p>`)}
  </div>`;
}

interface CompletedProps extends RepeatedProps {
  readonly entry: CompletedEntry;
  readonly plan: DecidedEntry | undefined;
}

function Completed({ entry, plan, pod, isRepeated }: CompletedProps) {
  const [showsAll, setShowsAll] = useState(false);
  const changes = pod === '' ? entry.endpoints : entry.endpoints.filter((change) => change.pod === pod);
  const hasFailed = isBad(entry);
  const [cause] = isRepeated ? [] : entry.causes.first;
  const slow = isRepeated ? '' : slowWriteText(entry, duration);
  const moreCauses = entry.causes.first.length + entry.causes.more - 1;
  return html`<div>
    <p>
      <b>${entry.controller === 'endpoints' ? 'Endpoints' : 'Slices'}</b> ${describeWrites(entry)}
      ${entry.retries > 0 && html`<span class="tag">${plural(entry.retries, 'retry', 'retries')}</span>`}
      ${hasFailed && html`<span class="tag bad">${entry.status}</span>`}
    </p>
    ${entry.message !== '' && html`<p class=${hasFailed ? 'bad' : 'faint'}>${entry.message}</p>`}
    ${changes.slice(0, showsAll ? undefined : maxChanges).map((change) => html`<${Change} change=${change} />`)}
    ${
      changes.length > maxChanges &&
      html`<button class="more" onClick=${() => setShowsAll(!showsAll)}>
        ${showsAll ? 'show less' : `${changes.length - maxChanges} more`}
      </button>`
    }
    ${cause && html`<p class="faint">because ${cause.description}${moreCauses > 0 && ` and ${moreCauses} more`}</p>`}
    ${slow !== '' && html`<p class="faint">${slow}</p>`}
    ${plan?.incomplete.map((reason) => html`<p class="problem">${reason}</p>`)}
    ${!isRepeated && entry.latencyMs !== null && html`<${Phases} total=${entry.latencyMs} apply=${entry.applyMs} />`}
  </div>`;
}

/** Latency until the decision, and from there to the API server's last response. */
function Phases({ total, apply }: { total: number; apply: number }) {
  const decide = Math.max(0, total - apply);
  const share = total === 0 ? 0.5 : decide / total;
  return html`<span class="phases" title=${`${fineDuration(decide)} from the first cause to the decision, ${fineDuration(apply)} to the last response`}>
    <i style=${{ width: `${share * 100}%` }}></i><i style=${{ width: `${(1 - share) * 100}%` }}></i>
    <small>decide ${duration(decide)} · write ${duration(apply)}</small>
  </span>`;
}

/** `updated`, `2 created, 1 updated`, `not created` */
function describeWrites({ writes }: CompletedEntry): string {
  if (writes.length === 0) return 'no writes';
  const results = Map.groupBy(writes, ({ verb, ok }) => `${ok ? '' : 'not '}${verb}d`);
  return [...results].map(([result, { length }]) => (writes.length === 1 ? result : `${length} ${result}`)).join(', ');
}

function Change({ change }: { change: EndpointChange }) {
  const { type, pod, addresses, before, after } = change;
  const isLost = before?.ready && after !== null && !after.ready && !after.terminating;
  return html`<p class=${`change ${type} ${isLost ? 'problem' : ''}`}><b>${signs[type]}</b> ${pod || addresses.join(', ')} <small>${difference(change)}</small></p>`;
}
