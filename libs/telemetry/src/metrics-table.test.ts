import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allMetrics } from './metrics-table.ts';

const page = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8');

const rows = Object.entries(allMetrics());

test.each(rows.filter(([name]) => name.startsWith('sluice_')))(
  'docs/reference/metrics.md has a row for %s with its type and labels',
  (name, { type, labels }) => {
    const [, typed, listed = ''] = new RegExp(`^\\| \`${name}\` +\\| (\\w+) +\\|([^|]*)\\|`, 'm').exec(page) ?? [];
    expect(typed).toBe(type.replace('observed ', ''));
    // The page says once which label a process with several clusters adds.
    expect([...listed.matchAll(/\w+/g)].map(([label]) => label)).toEqual(labels.filter((one) => one !== 'identity'));
  },
);

test("docs/reference/metrics.md names upstream's metrics without their prefix", () => {
  const prefix = /^(?:endpoint_slice(?:_mirroring)?_controller|workqueue)_/;
  for (const [name] of rows) {
    if (!name.startsWith('sluice_')) expect(page).toContain(`\`${name.replace(prefix, '')}\``);
  }
});

test('docs/reference/metrics.md names no metric that does not exist', () => {
  const listed = [...page.matchAll(/^\| `(sluice_\w+)`/gm)].map(([, name]) => name);
  expect(listed.filter((name) => name === undefined || !(name in allMetrics()))).toEqual([]);
});
