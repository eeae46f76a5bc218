import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { anchorsOf } from '../docs/links.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const sourcesOfRules = [read('infra/prometheus/alerts.yaml'), read('infra/prometheus/slos.yaml')];
const alerts = sourcesOfRules.flatMap(alertsOf);
const dashboard = read('infra/grafana/dashboards/sluice.json');
const runbooks = readdirSync(`${root}docs/operations/runbooks`).filter((file) => file !== 'README.md');

interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

function alertsOf(text: string): readonly Alert[] {
  const { groups } = load(text) as { groups: readonly { rules: readonly (Alert | { record: string })[] }[] };
  return groups.flatMap(({ rules }) => rules.filter((rule) => 'alert' in rule));
}

it.each(alerts)('the runbook_url of $alert, $labels.severity, is a section of a runbook', ({ annotations }) => {
  const [path = '', anchor = ''] = annotations.runbook_url.split('#');
  expect(runbooks.map((file) => `docs/operations/runbooks/${file}`)).toContain(path);
  expect([...anchorsOf(read(path))]).toContain(anchor);
});

it('promtool fires each alert in alerts.test.yaml', () => {
  const { tests } = load(read('infra/prometheus/alerts.test.yaml')) as { tests: readonly PromtoolTest[] };
  const fired = tests
    .flatMap(({ alert_rule_test }) => alert_rule_test)
    .flatMap(({ alertname, exp_alerts }) => exp_alerts.map(({ exp_labels }) => `${alertname} ${exp_labels.severity}`));
  const wanted = alerts.map(({ alert, labels }) => `${alert} ${labels.severity}`);
  expect([...new Set(fired)].sort()).toEqual(wanted.sort());
});

interface PromtoolTest {
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly { readonly exp_labels: { readonly severity: string } }[];
  }[];
}

it('the index lists each runbook, and the runbook of an alert names the alert', () => {
  const index = read('docs/operations/runbooks/README.md');
  for (const file of runbooks) expect(index).toContain(`(${file})`);
  for (const { alert, annotations } of alerts) {
    expect(read(annotations.runbook_url.split('#')[0] ?? '')).toContain(`\`${alert}\``);
    expect(index).toContain(`\`${alert}\``);
  }
});

/** The first table of docs/reference/metrics.md omits the prefixes. */
it('docs/reference/metrics.md lists all metrics of alerts and dashboard', () => {
  const guide = read('docs/reference/metrics.md');
  const names =
    [...sourcesOfRules, dashboard]
      .join('\n')
      .match(/\b(sluice|workqueue|endpoint_slice(_mirroring)?_controller)_[a-z_]+/g) ?? [];
  const missing = new Set(names)
    .values()
    .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    .filter(
      (name) =>
        !guide.includes(`\`${name}\``) && !guide.includes(`\`${name.replace(/^.*?(workqueue|controller)_/, '')}\``),
    );
  expect([...missing]).toEqual([]);
});

it('the index of runbooks lists each alert once, with its severities', () => {
  const rows = [...read('docs/operations/runbooks/README.md').matchAll(/^\| (`Sluice[^|]*) \| ([a-z, ]+) \|/gm)].map(
    ([, names = '', severities = '']) => ({
      names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
      severities: [...new Set(severities.match(/critical|warning/g))].sort(),
    }),
  );
  expect(rows.flatMap(({ names }) => names).sort()).toEqual([...new Set(alerts.map(({ alert }) => alert))].sort());
  for (const { names, severities } of rows) {
    const defined = alerts.filter(({ alert }) => names.includes(alert)).map(({ labels }) => labels.severity);
    expect([...new Set(defined)].sort(), names.join()).toEqual(severities);
  }
});
