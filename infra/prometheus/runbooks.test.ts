import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const alerts = read('infra/prometheus/alerts.yaml');
const dashboard = read('infra/grafana/dashboards/sluice.json');
const runbooks = readdirSync(`${root}docs/operations/runbooks`).filter((file) => file !== 'README.md');
const sources = ['libs', 'services']
  .flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith('.ts') && !file.includes('.test.') && !file.includes('node_modules'))
  .map(read)
  .join('\n');

it('each alert names an existing runbook', () => {
  const names = [...alerts.matchAll(/runbook: docs\/operations\/runbooks\/(\S+)/g)].map(([, name]) => name);
  expect(names).toHaveLength([...alerts.matchAll(/- alert: /g)].length);
  for (const name of names) expect(runbooks).toContain(name);
});

it('the index lists each runbook, and the runbook of an alert names the alert', () => {
  const index = read('docs/operations/runbooks/README.md');
  for (const file of runbooks) expect(index).toContain(`(${file})`);
  for (const [, alert, file] of alerts.matchAll(/- alert: (\w+)[\s\S]*?runbook: (\S+)/g)) {
    expect(read(file ?? '')).toContain(`\`${alert}\``);
  }
});

describe.each(runbooks)('%s', (file) => {
  it('quotes log messages as the code contains them', () => {
    const [, lines = ''] = /```log\n([^`]*)```/.exec(read(`docs/operations/runbooks/${file}`)) ?? [];
    const wrong = lines.split('\n').filter((line) => !sources.includes(line));
    expect(wrong).toEqual([]);
  });
});

/** The first table of docs/reference/metrics.md omits the prefixes. */
it('docs/reference/metrics.md lists all metrics of alerts, dashboard and runbooks', () => {
  const guide = read('docs/reference/metrics.md');
  const text = [alerts, dashboard, ...runbooks.map((file) => read(`docs/operations/runbooks/${file}`))].join('\n');
  const names = text.match(/\b(sluice|workqueue|endpoint_slice(_mirroring)?_controller)_[a-z_]+/g) ?? [];
  const missing = new Set(names)
    .values()
    .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    .filter(
      (name) =>
        !guide.includes(`\`${name}\``) && !guide.includes(`\`${name.replace(/^.*?(workqueue|controller)_/, '')}\``),
    );
  expect([...missing]).toEqual([]);
});
