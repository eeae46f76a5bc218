import type { Overview } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { Empty, Failed, Loading } from '../parts/notice.ts';
import { OutageBelts } from '../parts/outage-belts.ts';
import type { AnswerProps } from '../parts/recorded-service.ts';
import { Drains, Problems, Propagations, ReadinessChanges } from '../parts/recorded-tables.ts';
import { Link, navigate, type Period, periods, type Question, questions, wholeMs } from '../router.ts';
import { type Loaded, useLoaded } from '../use-loaded.ts';

/** Each answer reads the recording. */
const refreshMs = 30_000;
const limit = 200;

interface Props {
  readonly question: Question;
  readonly period: Period;
}

/** Questions about all Services, which the recording answers. */
export function RecordingView({ question, period }: Props) {
  useKeys({ Escape: () => navigate({ view: 'services' }) });
  const [overview] = useLoaded(api.overview, [], refreshMs);
  const choose = (event: Event) => {
    navigate({ view: 'recording', question, period: (event.target as HTMLSelectElement).value as Period }, true);
  };
  return html`<div class="recording">
    <h1 class="visually-hidden">Recording</h1>
    <div class="filters">
      <nav class="chips" aria-label="questions">
        ${(Object.keys(questions) as Question[]).map((one) => {
          const current = one === question ? { class: 'chip chosen', 'aria-current': 'page' } : { class: 'chip' };
          return html`<${Link} to=${{ view: 'recording', question: one, period }} ...${current}>${questions[one]}<//>`;
        })}
      </nav>
      <span class="spacer"></span>
      <select aria-label="period" value=${period} onChange=${choose}>
        ${Object.keys(periods).map((one) => html`<option value=${one}>${one === 'all' ? 'all' : `last ${one}`}</option>`)}
      </select>
    </div>
    ${answerOf(overview, { question, period })}
  </div>`;
}

function answerOf(overview: Loaded<Overview>, props: Props) {
  if (overview.state === 'loading') return html`<${Loading} what="recording" />`;
  if (overview.state === 'failed') return html`<${Failed} problem=${overview.problem} />`;
  const { recording, clusters } = overview.value;
  if (recording === null) {
    return html`<${Empty} title="This console has no recording">
      sluice observe and sluice open have one, sluice run and sluice console with --recording-dir.
    <//>`;
  }
  const until = wholeMs(recording.to);
  const since = Math.max(Math.floor(recording.from), until - periods[props.period]);
  const { explanation, Answer } = answers[props.question];
  return html`<p class="faint">${explanation} From ${dateAndTime(since)} to ${dateAndTime(until)}.</p>
    <${Answer} key=${props.question} since=${since} until=${until} showsCluster=${clusters.length > 1} />`;
}

type Ask<T> = (
  period: Pick<AnswerProps, 'since' | 'until'>,
  signal: AbortSignal,
) => Promise<{ readonly items: readonly T[] }>;

/** `explanation`: for people. `ask`: as the command of the same name does. */
function answer<T>(
  explanation: string,
  ask: Ask<T>,
  view: (props: AnswerProps & { readonly items: readonly T[] }) => unknown,
) {
  const Answer = ({ since, until, showsCluster }: AnswerProps) => {
    const [loaded] = useLoaded((signal) => ask({ since, until }, signal), [since, until]);
    if (loaded.state === 'loading') return html`<${Loading} what="answer" />`;
    if (loaded.state === 'failed') return html`<${Failed} problem=${loaded.problem} />`;
    return view({ items: loaded.value.items, since, until, showsCluster });
  };
  return { explanation, Answer };
}

const answers = {
  problems: answer(
    'What is wrong with Services at the end, most severe first.',
    ({ until }, signal) => api.problems({ until, open: 'true' }, signal),
    Problems,
  ),
  outages: answer('Services without a ready endpoint in their slices.', api.outages, OutageBelts),
  stuck: answer(
    'Pods that slices or Endpoints do not show as they should for 5 seconds or more.',
    (_, signal) => api.propagations({ open: 'true', atLeastMs: 5_000, limit }, signal),
    Propagations,
  ),
  slow: answer(
    'Changes of Pods that took longest to reach slices or Endpoints.',
    (period, signal) => api.propagations({ ...period, startKnown: 'true', limit }, signal),
    Propagations,
  ),
  flapping: answer(
    'Pods that became ready or not ready most often.',
    (period, signal) => api.readinessChanges({ ...period, limit }, signal),
    ReadinessChanges,
  ),
  drain: answer(
    'How long Services take to stop sending traffic to a Pod that is deleted, and whether preStop hooks sleep long enough.',
    api.drains,
    Drains,
  ),
} as const satisfies Readonly<Record<Question, unknown>>;
