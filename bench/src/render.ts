import type { Controller } from './controllers.ts';
import { type Table, tables } from './report.ts';
import type { Results } from './results.ts';
import { warnings } from './warnings.ts';

/** For a terminal of 120 columns. */
export function renderText(results: Results): string {
  const parts = tables(results).map(textTable);
  const doubts = warnings(results).map((warning) => `warning: ${warning}\n`);
  return [`${conditions(results)}\n`, ...parts, doubts.join('')].filter((part) => part !== '').join('\n');
}

/** For docs/performance.md. */
export function renderMarkdown(results: Results, controllers: readonly Controller[]): string {
  const measured = new Set(results.runs.map(({ controller }) => controller));
  const legend = controllers
    .filter(({ name }) => measured.has(name))
    .map(
      ({ name, description, flags }) =>
        `- **${name}**: ${description}${flags.length > 0 ? `: \`${flags.join(' ')}\`` : ''}`,
    );
  const doubts = warnings(results);
  return [
    `\`\`\`sh
${results.command}
\`\`\`
`,
    `${conditions(results)}\n`,
    `${legend.join('\n')}\n`,
    ...tables(results).map(markdownTable),
    ...(doubts.length > 0 ? [`Doubtful:\n\n${doubts.map((doubt) => `- ${doubt}`).join('\n')}\n`] : []),
  ].join('\n');
}

function conditions(results: Results): string {
  const { machine, node, kubernetes, commit, startedAt, rounds, seconds, fsync } = results;
  return (
    `Medians of ${rounds} ${rounds === 1 ? 'round' : 'interleaved rounds'}, ${seconds} s at each rate. ${machine}, ` +
    `shared by API server, etcd, load and controller.\n` +
    `Kubernetes ${kubernetes}, etcd ${fsync ? 'with' : 'without'} fsync, Node ${node}, Sluice ${commit}, ` +
    `${startedAt.slice(0, 10)}.\n\n` +
    'Latency: from the answer to a Pod status write to the watch event of the EndpointSlice that shows it, and for\n' +
    'comparison of the Endpoints (Endp.). Writes and CPU are for each flip: of the controller, the API server (API) and\n' +
    'etcd. Memory is the peak of the controller. The last column shows the spread over the rounds.'
  );
}

function textTable({ title, head, rows }: Table): string {
  const lines = aligned([head, ...rows.map(({ cells }) => cells)]).map((cells) => cells.join(' ').trimEnd());
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Aligned as the formatter of the repository wants it. */
function markdownTable({ title, head, rows }: Table): string {
  const body = rows.map(({ ratio, cells }) => (ratio ? cells.map((cell) => cell && `_${cell}_`) : cells));
  const [first = [], ...rest] = aligned([head, ...body]);
  const rule = first.map(({ length }, column) => (column === 0 ? '-'.repeat(length) : `${'-'.repeat(length - 1)}:`));
  const lines = [first, rule, ...rest].map((cells) => `| ${cells.join(' | ')} |\n`);
  return `### ${title}\n\n${lines.join('')}`;
}

/** The first column to the left, the others to the right, each as wide as its widest cell. */
function aligned(table: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  return table.map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
}
