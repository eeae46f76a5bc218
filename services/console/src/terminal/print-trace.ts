import { localTime, printableLine, truncateMiddle } from '@sluice/platform/process';
import { spentText } from '../../page/spent-text.ts';
import type { TraceView } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

type Span = TraceView['spans'][number];

/** Limits of the columns of the bars. */
const [minBarWidth, maxBarWidth] = [10, 30] as const;
const minNameWidth = 24;
/** Of the two columns of numbers and the spaces between columns. */
const numbersWidth = 22;

/** A trace as a tree of spans, each with its offset from the start, its duration, and a bar for both. */
export function printTrace(view: TraceView, format: TextFormat): string {
  const { colors } = format;
  const names = view.spans.map((span) => `${'  '.repeat(span.depth)}${nameOf(span)}`);
  const barWidth = Math.max(minBarWidth, Math.min(maxBarWidth, format.width - minNameWidth - numbersWidth));
  const room = Math.max(minNameWidth, Math.min(72, format.width - barWidth - numbersWidth));
  const width = Math.min(room, Math.max(...names.map((name) => name.length)));
  const lines = view.spans.map((span, i) => {
    const name = truncateMiddle(names[i] ?? '', width).padEnd(width);
    const start = milliseconds(span.startedAt - view.startedAt).padStart(9);
    const took = milliseconds(span.durationMs).padStart(9);
    const paint = span.error === null ? colors.reset : colors.red;
    const why = span.error === null ? '' : wrapIndented(' '.repeat(2 + 2 * span.depth), span.error, format, colors.red);
    return `${paint(name)} ${colors.dim(start)} ${took}  ${paint(bar(span, view, barWidth))}\n${why}`;
  });
  const cause = view.cause === null ? '' : `${view.cause}, `;
  const title = `${cause}${localTime(view.startedAt, format.now)}: ${milliseconds(view.durationMs)} ms, trace ${view.traceId}`;
  const head = `${'SPAN'.padEnd(width)} ${'AT ms'.padStart(9)} ${'TOOK ms'.padStart(9)}`;
  const spent = spentText(view.spent);
  const where = spent === '' ? '' : wrapIndented('', spent, format);
  return `${wrapIndented('', title, format, colors.bold)}${where}${colors.dim(head)}\n${lines.join('')}`;
}

/** Name of a span with the API server's status, and the trace that continues it. */
function nameOf({ service, name, attributes, links }: Span): string {
  const of = (wanted: string) => attributes.find((attribute) => attribute.name === wanted)?.value;
  const status = of('http.response.status_code') ?? of('sluice.status');
  const next = links.find(({ carries }) => !carries);
  return printableLine(
    [
      `${service.replace(/^sluice-/, '')}: ${name}`,
      ...(status === undefined ? [] : [status]),
      ...(next === undefined ? [] : [`→ trace ${next.traceId}`]),
    ].join(' '),
  );
}

const milliseconds = (ms: number): string => (ms < 10 ? ms.toFixed(2) : ms.toFixed(1));

function bar(span: Span, { startedAt, durationMs }: TraceView, barWidth: number): string {
  const scale = barWidth / Math.max(durationMs, 0.001);
  const from = Math.min(barWidth - 1, Math.floor((span.startedAt - startedAt) * scale));
  const length = Math.max(1, Math.min(barWidth - from, Math.round(span.durationMs * scale)));
  return `${' '.repeat(from)}${'█'.repeat(length)}`;
}
