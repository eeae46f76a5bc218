import type { Overview } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, shortTime } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { NodeDisruptions } from '../parts/node-disruptions.ts';
import { Empty, Failed, Loading } from '../parts/notice.ts';
import { OutageBelts } from '../parts/outage-belts.ts';
import { ProblemMap } from '../parts/problem-map.ts';
import type { AnswerProps } from '../parts/recorded-service.ts';
import { Drains, Problems, Propagations, ReadinessChanges } from '../parts/recorded-tables.ts';
import {
  Link,
  navigate,
  type Period,
  periods,
  type Question,
  questions,
  type RecordingRoute,
  wholeMs,
} from '../router.ts';
import type { TimeRange } from '../time-range.ts';
import { type Loaded, useLoaded } from '../use-loaded.ts';

/** Each answer reads the recording. */
const refreshMs = 30_000;
const limit = 200;

/** Questions about all Services, which the recording answers. */
export function RecordingView({ route }: { route: RecordingRoute }) {
  useKeys({ Escape: () => navigate({ view: 'services' }) });
  const [overview] = useLoaded(api.overview, [], refreshMs);
  const choose = (event: Event) => {
    navigate({ ...route, range: undefined, period: (event.target as HTMLSelectElement).value as Period }, true);
  };
  return html`<div class="recording">
    <h1 class="visually-hidden">Recording</h1>
    <div class="filters">
      <nav class="chips" aria-label="questions">
        ${(Object.keys(questions) as Question[]).map((one) => {
          const current = one === route.question ? { class: 'chip chosen', 'aria-current': 'page' } : { class: 'chip' };
          return html`<${Link} to=${{ ...route, question: one }} ...${current}>${questions[one]}<//>`;
        })}
      </nav>
      <span class="spacer"></span>
      <${Chosen} route=${route} />
      <select aria-label="period" value=${route.period} onChange=${choose}>
        ${Object.keys(periods).map((one) => html`<option value=${one}>${one === 'all' ? 'all' : `last ${one}`}</option>`)}
      </select>
    </div>
    ${answerOf(overview, route)}
  </div>`;
}

/** What limits the answer to a cluster and a time, with a way back. */
function Chosen({ route }: { route: RecordingRoute }) {
  const { cluster, range } = route;
  const chip = (text: string, to: RecordingRoute) =>
    html`<${Link} class="chip chosen" to=${to} title="remove this filter">${text} ×<//>`;
  return html`
    ${cluster !== undefined && chip(cluster, { ...route, cluster: undefined })}
    ${range && chip(`${dateAndTime(range.since)} – ${shortTime(range.until, range.since)}`, { ...route, range: undefined })}
  `;
}

function answerOf(overview: Loaded<Overview>, route: RecordingRoute) {
  if (overview.state === 'loading') return html`<${Loading} what="recording" />`;
  if (overview.state === 'failed') return html`<${Failed} problem=${overview.problem} />`;
  const { recording, clusters, gaps } = overview.value;
  if (recording === null) {
    return html`<${Empty} title="This console has no recording">
      sluice observe and sluice open have one, sluice run and sluice console with --recording-dir.
    <//>`;
  }
  const { question, cluster, range } = route;
  const end = wholeMs(recording.to);
  const period = { since: Math.max(Math.floor(recording.from), end - periods[route.period]), until: end };
  const { since, until } = range ?? period;
  // A link may be older than the period.
  const mapped = { since: Math.min(period.since, since), until: end };
  const { explanation, Answer } = answers[question];
  const isOfEnd = question === 'stuck' || (question === 'problems' && range === undefined);
  const when = isOfEnd ? `At ${dateAndTime(end)}.` : `From ${dateAndTime(since)} to ${dateAndTime(until)}.`;
  return html`<p class="faint">${explanation} ${when}</p>
    ${question === 'problems' && html`<${ProblemMap} route=${route} period=${mapped} overview=${overview.value} />`}
    <${Answer}
      key=${question}
      since=${since}
      until=${until}
      cluster=${cluster}
      isChosen=${range !== undefined}
      gaps=${gaps}
      showsCluster=${clusters.length > 1}
    />`;
}

interface Asked extends TimeRange {
  /** Default: all clusters. */
  readonly cluster: string | undefined;
}

interface Props extends AnswerProps, Asked {
  /** The period is not one that ends now. */
  readonly isChosen: boolean;
}

type Ask<T> = (asked: Asked, signal: AbortSignal, isChosen: boolean) => Promise<{ readonly items: readonly T[] }>;

/** `explanation`: for people. `ask`: as the command of the same name does. */
function answer<T>(
  explanation: string,
  ask: Ask<T>,
  view: (props: AnswerProps & { readonly items: readonly T[] }) => unknown,
) {
  const Answer = ({ since, until, cluster, isChosen, ...shown }: Props) => {
    const [loaded] = useLoaded(
      (signal) => ask({ since, until, cluster }, signal, isChosen),
      [since, until, cluster, isChosen],
    );
    if (loaded.state === 'loading') return html`<${Loading} what="answer" />`;
    if (loaded.state === 'failed') return html`<${Failed} problem=${loaded.problem} />`;
    return view({ items: loaded.value.items, since, until, ...shown });
  };
  return { explanation, Answer };
}

const answers = {
  problems: answer(
    'What is wrong with Services, most severe first.',
    ({ since, until, cluster }, signal, isChosen) =>
      api.problems({ until, cluster, ...(isChosen ? { since } : { open: 'true' }) }, signal),
    Problems,
  ),
  outages: answer(
    'Services without a ready endpoint in their slices.',
    (asked, signal) => api.outages({ ...asked }, signal),
    OutageBelts,
  ),
  stuck: answer(
    'Pods that slices or Endpoints do not show as they should for 5 seconds or more.',
    ({ cluster }, signal) => api.propagations({ cluster, open: 'true', atLeastMs: 5_000, limit }, signal),
    Propagations,
  ),
  slow: answer(
    'Changes of Pods that took longest to reach slices or Endpoints.',
    (asked, signal) => api.propagations({ ...asked, startKnown: 'true', limit }, signal),
    Propagations,
  ),
  flapping: answer(
    'Pods that became ready or not ready most often.',
    (asked, signal) => api.readinessChanges({ ...asked, limit }, signal),
    ReadinessChanges,
  ),
  drain: answer(
    'How long Services take to stop sending traffic to a Pod that is deleted, and whether preStop hooks sleep long enough.',
    (asked, signal) => api.drains({ ...asked }, signal),
    Drains,
  ),
  node: answer(
    'Nodes that were not ready, cordoned, evicted their Pods or were deleted, and what it did to Services. Last first.',
    (asked, signal) => api.nodeDisruptions({ ...asked }, signal),
    NodeDisruptions,
  ),
} as const satisfies Readonly<Record<Question, unknown>>;
