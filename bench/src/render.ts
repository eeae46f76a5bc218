import { conditionsText } from './conditions.ts';
import type { Controller } from './controllers.ts';
import { tables } from './report.ts';
import type { Results } from './results.ts';
import { samplesForP99 } from './statistics.ts';
import { markdownTable, textTable } from './table.ts';
import { warnings } from './warnings.ts';

/** For a terminal of 120 columns. */
export function renderText(results: Results): string {
  const parts = tables(results).map(textTable);
  const warningLines = warnings(results).map((warning) => `warning: ${warning}\n`);
  return [`${conditions(results)}\n`, ...parts, warningLines.join('')].filter((part) => part !== '').join('\n');
}

/** For a page or an issue. */
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
  const { rounds, seconds, fsync, kubernetes } = results;
  return (
    `${rounds} ${rounds === 1 ? 'round' : 'interleaved rounds'}, at least ${seconds} s at each rate, etcd ${fsync ? 'with' : 'without'} fsync, ` +
    'shared by API server, etcd, load\n' +
    `and controller: Kubernetes ${kubernetes}, ${conditionsText(results.conditions)}.\n\n` +
    'Latency: from the response to a Pod status write to the watch event of the EndpointSlice that shows it, and of the\n' +
    `Endpoints (E); percentiles over the samples of all rounds (n), the p99 only of ${samplesForP99} or more. Writes and CPU in ms are\n` +
    'medians for each flip: of the controller, and of the API server (API). MB is the peak of the controller. The last\n' +
    'column is the range over the rounds.'
  );
}
