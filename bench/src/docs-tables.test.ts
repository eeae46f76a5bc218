import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cell, Cells } from './cells.ts';
import { pages, withTables } from './docs-tables.ts';
import { writeResults } from './results-file.ts';
import type { BenchResults } from './run-bench.ts';

const root = join(import.meta.dirname, '../..');
const page = (name: string, content = '') =>
  `before\n<!-- results of ${name}: node bench/tables.ts -->\n${content}<!-- end of the results -->\nafter\n`;
const conditions = { startedAt: '2026-01-02T03', machine: '2 × CPU', kernel: '6.1', commit: 'abc', node: 'v24' };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-tables-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function cell(controller: string, workload: string, changes: Partial<Cell['conditions']> = {}): Cell {
  const cpuSeconds = { controller: 1, apiServer: 1, etcd: 1, bench: 1, others: 0 };
  const cost = { seconds: 1, writes: {}, cpuSeconds, peakMemoryMb: 100 };
  return {
    ...{ version: 2, conditions: { ...conditions, ...changes }, command: 'npm run bench:all', kubernetes: 'v1.36.3' },
    ...{ fsync: false, shape: { services: 100, pods: 20 }, seconds: 1, workload },
    run: { controller, round: 1, coldStart: { completeSeconds: 2, firstWriteSeconds: 1, cost }, rates: [] },
  };
}

it.each(pages)('%s shows what is recorded in bench/results; if not: node bench/tables.ts', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  expect(withTables(text, join(root, 'bench/results'))).toBe(text);
});

describe('a region of a page', () => {
  it('says so if nothing is recorded', () => {
    expect(withTables(page('growth', 'old\n'), directory)).toBe(page('growth', '\nNot measured yet.\n\n'));
  });

  it('gets the tables of a bench with its command, machine, commit and date', () => {
    const tables = [{ title: 'Growth', head: ['Pods', 'MB'], rows: [{ cells: ['1,500', '125'] }] }];
    const results: BenchResults = { version: 2, conditions, command: 'node bench/growth.ts', tables, data: {} };
    writeResults(join(directory, 'growth.json'), results);
    const expected = `
\`node bench/growth.ts\`: 2 × CPU, Linux 6.1, Node v24, commit abc, 2026-01-02.

**Growth**

| Pods  |  MB |
| ----- | --: |
| 1,500 | 125 |

`;
    expect(withTables(page('growth', 'old\n'), directory)).toBe(page('growth', expected));
    expect(withTables(page('growth', expected), directory)).toBe(page('growth', expected));
  });

  it('gets a table over all workloads of a comparison', () => {
    const cells = new Cells(join(directory, 'comparison'));
    for (const workload of ['100x20', '500x5']) {
      for (const controller of ['sluice', 'kcm-raised']) cells.add(cell(controller, workload));
    }
    const text = withTables(page('comparison'), directory);
    expect(text).toContain(
      '`npm run bench:all`, Kubernetes `v1.36.3`: 2 × CPU, Linux 6.1, Node v24, commit abc, 2026-01-02.',
    );
    expect(text.match(/^\| (100x20|500x5), cold start .*2,000 · 2,000, 1.00×/gm)).toHaveLength(2);
  });

  it.each([
    ['machine', '4 × CPU'],
    ['commit', 'def'],
    ['node', 'v26'],
    ['kernel', '6.2'],
  ])('cannot mix results that differ in %s', (field, value) => {
    const cells = new Cells(join(directory, 'comparison'));
    cells.add(cell('sluice', '100x20'));
    cells.add(cell('sluice', '500x5', { [field]: value }));
    expect(() => withTables(page('comparison'), directory)).toThrow(`measurements of one table differ in ${field}`);
  });

  it('has no results of uncommitted changes', () => {
    const results: BenchResults = {
      ...{ version: 2, conditions: { ...conditions, commit: 'abc+' }, command: 'node bench/growth.ts' },
      ...{ tables: [], data: {} },
    };
    writeResults(join(directory, 'growth.json'), results);
    expect(() => withTables(page('growth'), directory)).toThrow('measured with changes that no commit has: abc+');
  });
});

it('stores histograms on one line each', () => {
  const histogram = [
    [0.01, 2],
    [5.017, 1],
  ];
  writeResults(join(directory, 'a/b.json'), {
    run: { histogram, names: ['p50 ms', 'n'], none: [] },
    rows: [{ n: 0.12345 }],
  });
  expect(readFileSync(join(directory, 'a/b.json'), 'utf8')).toBe(`{
 "run": {
  "histogram": [[0.01,2],[5.017,1]],
  "names": ["p50 ms","n"],
  "none": []
 },
 "rows": [
  {
   "n": 0.123
  }
 ]
}
`);
});
