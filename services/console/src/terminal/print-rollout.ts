import { localTime, printable } from '@sluice/platform/process';
import type { RolloutView } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

type State = RolloutView['pods'][number]['spans'][number]['state'];

/** Those that a cell shows rather than the ones after them, so that a short one is not lost. */
const states = ['not ready', 'terminating', 'unknown', 'ready'] as const satisfies readonly State[];
const symbols: Readonly<Record<State, string>> = { ready: '█', 'not ready': '▒', terminating: '░', unknown: '?' };
const legend = [...states].reverse().map((state) => `${symbols[state]} ${state}`);

const minCells = 20;
/** A pipe has no width. */
const maxCells = 100;
const maxNameWidth = 60;
const indent = '  ';

/** A belt for each Pod, grouped by owner: how it was over the period. */
export function printRollout(heading: string, { from, to, pods }: RolloutView, format: TextFormat): string {
  const names = pods.map(({ pod }) => printable(pod).slice(0, maxNameWidth));
  const nameWidth = Math.max(...names.map(({ length }) => length));
  const cells = Math.min(maxCells, Math.max(minCells, format.width - nameWidth - 2 * indent.length));
  const duration = Math.max(1, to - from);
  const timeOf = (cell: number) => from + (duration * cell) / cells;
  const cellOf = (spans: RolloutView['pods'][number]['spans'], cell: number) => {
    const [start, end] = [timeOf(cell), timeOf(cell + 1)];
    const shown = new Set(spans.filter((one) => one.from < end && (one.to ?? end) > start).map(({ state }) => state));
    const state = states.find((one) => shown.has(one));
    return state === undefined ? ' ' : paint(state, format);
  };
  const lines = pods.flatMap(({ owner, spans }, i) => [
    ...(i > 0 && pods[i - 1]?.owner === owner
      ? []
      : [`${format.colors.bold(printable(owner) || 'no owner recorded')}\n`]),
    `${indent}${(names[i] ?? '').padEnd(nameWidth)}${indent}`.concat(
      Array.from({ length: cells }, (_, cell) => cellOf(spans, cell)).join(''),
      '\n',
    ),
  ]);
  const [first, last] = [from, to].map((at) => localTime(at, format.now));
  const axis = `${first}${(last ?? '').padStart(Math.max(0, cells - (first ?? '').length))}`;
  return [
    wrapIndented('', heading, format, format.colors.bold),
    wrapIndented('', legend.join(', '), format, format.colors.dim),
    ...lines,
    `${' '.repeat(nameWidth + 2 * indent.length)}${axis}\n`,
  ].join('');
}

function paint(state: State, { colors }: TextFormat): string {
  const symbol = symbols[state];
  switch (state) {
    case 'ready':
      return colors.green(symbol);
    case 'not ready':
      return colors.yellow(symbol);
    case 'terminating':
      return colors.dim(symbol);
    case 'unknown':
      return colors.red(symbol);
  }
}
