import type { Controller } from './controllers.ts';
import { tables } from './report.ts';
import type { Results } from './results.ts';
import { markdownTable, textTable } from './table.ts';
import { warnings } from './warnings.ts';

/** For a terminal of 120 columns. */
export function renderText(results: Results): string {
  const parts = tables(results).map(textTable);
  const warningLines = warnings(results).map((warning) => `warning: ${warning}\n`);
  return [`${conditions(results)}\n`, ...parts, warningLines.join('')].filter((part) => part !== '').join('\n');
}

/** For docs/contributing/performance.md. */
export function renderMarkdown(results: Results, controllers: readonly Controller[]): string {
  const measured = new Set(results.runs.map(({ controller }) => controller));
  const legend = controllers
    .filter(({ name }) => measured.has(name))
    .map(
      ({ name, description, flags }) =>
        `- **${name}**: ${description}${flags.length > 0 ? `: \`${flags.join(' ')}\`` : ''}`,
    );
  const warningLines = warnings(results);
  return [
    `\`\`\`sh
${results.command}
\`\`\`
`,
    `${conditions(results)}\n`,
    `${legend.join('\n')}\n`,
    ...tables(results).map(markdownTable),
    ...(warningLines.length > 0 ? [`Warnings:\n\n${warningLines.map((line) => `- ${line}`).join('\n')}\n`] : []),
  ].join('\n');
}

export function conditions(results: Results): string {
  const { machine, node, kubernetes, commit, startedAt, rounds, seconds, fsync } = results;
  return (
    `Medians of ${rounds} ${rounds === 1 ? 'round' : 'interleaved rounds'}, ${seconds} s at each rate. ${machine}, ` +
    `shared by API server, etcd, load and controller.\n` +
    `Kubernetes ${kubernetes}, etcd ${fsync ? 'with' : 'without'} fsync, Node ${node}, Sluice ${commit}, ` +
    `${startedAt.slice(0, 10)}.\n\n` +
    'Latency: from the response to a Pod status write to the watch event of the EndpointSlice that shows it, and for\n' +
    'comparison of the Endpoints (Endp.). Writes and CPU are for each flip: of the controller, the API server (API) and\n' +
    'etcd. Memory is the peak of the controller. The last column shows the spread over the rounds.'
  );
}
